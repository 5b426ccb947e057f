//! What readers see of a task: statuses, reasons, waits.
