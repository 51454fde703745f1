//! Cycles of a graph.

use std::collections::BTreeSet;

/// The groups of more than one node that can all be reached from each other; `edges[from]` holds where one edge leads.
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

/// Where edges lead from a node, the node itself only by a cycle.
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
