//! The ordering edges as a tree for a terminal.

use alloc::{
    collections::VecDeque,
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use crate::{
    Edge, Graph, Node, Source,
    drawing::{Way, line},
};

/// Columns of a line at most.
const COLUMNS: usize = 80;

/// Levels below a root. What lies deeper becomes a root of its own further down, so that a long chain does not
/// leave the screen.
const LEVELS: usize = 5;

/// Whether what a container depends on has been drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Drawn {
    No,
    /// It is yet to come as a root.
    Below,
    Above,
}

impl Graph {
    /// Who depends on whom, as a tree with the dependents at the left; no line has more than 80 columns, and a
    /// container is drawn once with what it depends on. Long names are cut.
    ///
    /// ```text
    /// web  PULLED -> RUNNING
    /// ├─ db HEALTHY  RUNNING
    /// │  └─ init SUCCESS  STOPPED
    /// └─ store START (links)  RUNNING
    /// ```
    ///
    /// # Panics
    /// `nodes` are not the containers of this graph in its order.
    #[must_use]
    pub fn to_tree(&self, nodes: &[Node<'_>]) -> String {
        self.check_order(nodes);
        let roots = (0..nodes.len()).filter(|container| self.dependents(*container).is_empty()).collect();
        let mut tree = Tree { graph: self, nodes, drawn: vec![Drawn::No; nodes.len()], roots, text: String::new() };
        while let Some(root) = tree.roots.pop_front() {
            tree.line("", root, &format!("  {}", Way(&nodes[root])));
            tree.branches(root, &mut Vec::new());
        }
        tree.text
    }
}

struct Tree<'a> {
    graph: &'a Graph,
    nodes: &'a [Node<'a>],
    drawn: Vec<Drawn>,
    roots: VecDeque<usize>,
    text: String,
}

impl Tree<'_> {
    /// What `container` depends on. `open`: for each level above, whether something follows there.
    fn branches(&mut self, container: usize, open: &mut Vec<bool>) {
        self.drawn[container] = Drawn::Above;
        let graph = self.graph;
        let mut edges = graph.members[container].edges.iter().peekable();
        while let Some(edge) = edges.next() {
            let follows = edges.peek().is_some();
            let mark = self.mark(edge.on, open.len() + 1);
            let after = if mark.is_empty() { format!("  {}", Way(&self.nodes[edge.on])) } else { mark.to_string() };
            self.line(&indent(open, follows), edge.on, &format!("{}{after}", label(edge)));
            if mark.is_empty() {
                open.push(follows);
                self.branches(edge.on, open);
                open.pop();
            }
        }
    }

    /// Where else to look for what a container depends on; empty if it is drawn here.
    fn mark(&mut self, container: usize, level: usize) -> &'static str {
        if self.graph.members[container].edges.is_empty() {
            return "";
        }
        match self.drawn[container] {
            Drawn::Above => " (above)",
            Drawn::Below => " (below)",
            Drawn::No if level < LEVELS => "",
            Drawn::No => {
                self.drawn[container] = Drawn::Below;
                self.roots.push_back(container);
                " (below)"
            }
        }
    }

    fn line(&mut self, indent: &str, container: usize, rest: &str) {
        let room = COLUMNS - indent.chars().count() - rest.chars().count();
        let name = self.graph.names[container].as_str();
        if name.len() <= room {
            line(&mut self.text, format_args!("{indent}{name}{rest}"));
        } else {
            // A name is ASCII: a byte is a column.
            line(&mut self.text, format_args!("{indent}{}…{rest}", &name[..room - 1]));
        }
    }
}

fn indent(open: &[bool], follows: bool) -> String {
    let mut text: String = open.iter().map(|open| if *open { "│  " } else { "   " }).collect();
    text.push_str(if follows { "├─ " } else { "└─ " });
    text
}

fn label(edge: &Edge) -> String {
    match edge.source {
        Source::DependsOn { .. } => format!(" {}", edge.condition),
        source @ (Source::VolumesFrom { .. } | Source::Links { .. } | Source::LogRouter) => {
            format!(" {} ({})", edge.condition, source.name())
        }
    }
}
