//! Cycles of a graph.

use std::collections::BTreeSet;

/// The strongly connected components with more than one node; `edges[from]` lists the targets of the edges from a node.
pub(crate) fn cycles(edges: &[BTreeSet<usize>]) -> Vec<BTreeSet<usize>> {
    let reached: Vec<BTreeSet<usize>> = (0..edges.len()).map(|from| reached(edges, from)).collect();
    let mut cycles: Vec<BTreeSet<usize>> = Vec::new();
    for node in 0..edges.len() {
        if reached[node].contains(&node) && !cycles.iter().any(|cycle| cycle.contains(&node)) {
            cycles.push(reached[node].iter().copied().filter(|it| reached[*it].contains(&node)).collect());
        }
    }
    cycles
}

/// The nodes that can be reached from a node; the node itself only through a cycle.
fn reached(edges: &[BTreeSet<usize>], from: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<usize> = edges[from].iter().copied().collect();
    while let Some(node) = next.pop() {
        if reached.insert(node) {
            next.extend(&edges[node]);
        }
    }
    reached
}
