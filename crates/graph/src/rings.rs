//! Rings in a directed graph, in time linear in nodes and edges and without recursion.

use alloc::{collections::VecDeque, vec, vec::Vec};

/// For each node the nodes it waits for, each with why.
pub(crate) type Web<L> = Vec<Vec<(usize, L)>>;

/// One ring of every group of nodes that wait for each other: the shortest through the first node of the group.
/// Each entry is a node and why it waits for the next; the last waits for the first.
pub(crate) fn rings<L: Copy>(web: &Web<L>) -> Vec<Vec<(usize, L)>> {
    let group = groups(web);
    let mut size = vec![0_usize; web.len()];
    for group in &group {
        size[*group] += 1;
    }
    let mut came_from = vec![None; web.len()];
    let mut done = vec![false; web.len()];
    let mut found = Vec::new();
    for node in 0..web.len() {
        let has_ring = size[group[node]] > 1 || web[node].iter().any(|(next, _)| *next == node);
        if has_ring && !core::mem::replace(&mut done[group[node]], true) {
            found.push(ring_through(web, &group, &mut came_from, node));
        }
    }
    found
}

/// Walks outward from `start` within its group until a step leads back to it.
fn ring_through<L: Copy>(
    web: &Web<L>,
    group: &[usize],
    came_from: &mut [Option<(usize, L)>],
    start: usize,
) -> Vec<(usize, L)> {
    let mut open = VecDeque::from([start]);
    while let Some(node) = open.pop_front() {
        for (next, why) in web[node].iter().filter(|(next, _)| group[*next] == group[start]) {
            if *next == start {
                return way_back(came_from, start, (node, *why));
            }
            if came_from[*next].is_none() {
                came_from[*next] = Some((node, *why));
                open.push_back(*next);
            }
        }
    }
    unreachable!("from a node of a group every node of the group can be reached")
}

fn way_back<L: Copy>(came_from: &[Option<(usize, L)>], start: usize, last: (usize, L)) -> Vec<(usize, L)> {
    let mut ring = vec![last];
    let mut node = last.0;
    while node != start {
        let step = came_from[node].expect("every node but the start was come to");
        ring.push(step);
        node = step.0;
    }
    ring.reverse();
    ring
}

const UNSEEN: usize = usize::MAX;

/// For each node a number that exactly those nodes share that can reach each other.
fn groups<L>(web: &Web<L>) -> Vec<usize> {
    let back = reversed(web);
    let mut group = vec![UNSEEN; web.len()];
    // Backwards from the node that is finished last, nothing is reached but its own group.
    for start in finish_order(web).into_iter().rev() {
        if group[start] != UNSEEN {
            continue;
        }
        group[start] = start;
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            for next in &back[node] {
                if group[*next] == UNSEEN {
                    group[*next] = start;
                    open.push(*next);
                }
            }
        }
    }
    group
}

/// The nodes in the order in which a depth-first walk leaves them.
fn finish_order<L>(web: &Web<L>) -> Vec<usize> {
    let mut seen = vec![false; web.len()];
    let mut order = Vec::with_capacity(web.len());
    for start in 0..web.len() {
        if core::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut path = vec![(start, 0)];
        while let Some((node, at)) = path.last_mut() {
            let Some((next, _)) = web[*node].get(*at) else {
                order.push(*node);
                path.pop();
                continue;
            };
            *at += 1;
            if !core::mem::replace(&mut seen[*next], true) {
                path.push((*next, 0));
            }
        }
    }
    order
}

fn reversed<L>(web: &Web<L>) -> Vec<Vec<usize>> {
    let mut back = vec![Vec::new(); web.len()];
    for (node, steps) in web.iter().enumerate() {
        for (next, _) in steps {
            back[*next].push(node);
        }
    }
    back
}
