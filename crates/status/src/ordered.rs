//! What every numbered status has in common.

/// Declares a status enum whose order is the numbering of engine.md §1.
///
/// There is no derived `Ord`: `a < b` would read as arithmetic where the rule is a table. The named
/// comparisons below are the only ones, and each is tested over all pairs.
macro_rules! ordered_status {
    (
        $(#[$doc:meta])*
        pub enum $name:ident, $what:literal {
            $($(#[$variant_doc:meta])* $variant:ident = $number:literal, $text:literal;)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$variant_doc])* $variant = $number,)+
        }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// What the type is called in messages.
            pub(crate) const WHAT: &'static str = $what;

            /// The number of engine.md §1; only its order means something.
            #[must_use]
            pub const fn number(self) -> u8 {
                self as u8
            }

            /// The name, in upper case; [`Self::parse`] reads it back.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// Reads what [`Self::as_str`] writes, and nothing else.
            ///
            /// # Errors
            /// `text` is not one of the names; case counts.
            pub fn parse(text: &str) -> Result<Self, $crate::StatusTextError> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err($crate::StatusTextError::new(Self::WHAT, text, $crate::TextFault::UnknownName)),
                }
            }

            /// Whether this is `other` or comes after it.
            #[must_use]
            pub const fn at_least(self, other: Self) -> bool {
                self.number() >= other.number()
            }

            /// Whether this comes strictly before `other`.
            #[must_use]
            pub const fn is_before(self, other: Self) -> bool {
                self.number() < other.number()
            }

            /// Whether this comes strictly after `other`.
            #[must_use]
            pub const fn is_after(self, other: Self) -> bool {
                self.number() > other.number()
            }

            /// The one that comes later; "max" in the spec.
            #[must_use]
            pub const fn later_of(self, other: Self) -> Self {
                if self.is_before(other) { other } else { self }
            }

            /// The one that comes first; "min" in the spec.
            #[must_use]
            pub const fn earlier_of(self, other: Self) -> Self {
                if self.is_after(other) { other } else { self }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
pub(crate) use ordered_status;
