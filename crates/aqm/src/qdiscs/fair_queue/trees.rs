//! Red-black trees of numbered nodes, one per hash bucket.
//!
//! Source: Linux 6.1 `lib/rbtree.c`, which follows Cormen, Leiserson, Rivest and Stein,
//! Introduction to Algorithms, chapter 13. The shape of a tree determines the flows on a lookup's
//! path, and therefore those that the lookup forgets.

use alloc::vec;
use alloc::vec::Vec;

use super::flow::NONE;

/// A node of a tree.
#[derive(Clone, Copy, Debug)]
struct Node {
    key: u64,
    parent: u32,
    /// Subtrees: first the larger keys, then the smaller ones (sch_fq.c, fq_classify).
    children: [u32; 2],
    is_red: bool,
}

/// The trees.
#[derive(Debug)]
pub(super) struct Trees {
    nodes: Vec<Node>,
    roots: Vec<u32>,
}

impl Trees {
    pub(super) fn new(buckets: usize) -> Trees {
        Trees { nodes: Vec::new(), roots: vec![NONE; buckets] }
    }

    pub(super) fn buckets(&self) -> usize {
        self.roots.len()
    }

    pub(super) fn root(&self, bucket: usize) -> u32 {
        self.roots[bucket]
    }

    pub(super) fn key(&self, index: u32) -> u64 {
        self.nodes[index as usize].key
    }

    /// The child of a node on the path to a key.
    pub(super) fn child(&self, index: u32, key: u64) -> u32 {
        let node = &self.nodes[index as usize];
        node.children[usize::from(node.key > key)]
    }

    /// Adds a node below a parent, where the search for its key ended.
    pub(super) fn insert(&mut self, bucket: usize, parent: u32, key: u64, index: u32) {
        let node = Node { key, parent, children: [NONE; 2], is_red: true };
        if self.nodes.len() <= index as usize {
            self.nodes.push(node);
        } else {
            self.nodes[index as usize] = node;
        }
        match parent {
            NONE => self.roots[bucket] = index,
            _ => {
                let side = usize::from(self.node(parent).key > key);
                self.node(parent).children[side] = index;
            }
        }
        self.after_insertion(bucket, index);
    }

    /// Removes a node; its in-order successor takes its place.
    pub(super) fn remove(&mut self, bucket: usize, index: u32) {
        let Node { parent, children: [first, second], is_red, .. } = self.nodes[index as usize];
        if first == NONE || second == NONE {
            let only = if first == NONE { second } else { first };
            self.replace(bucket, parent, index, only);
            match only {
                NONE if !is_red => self.after_removal(bucket, parent),
                NONE => {}
                _ => self.node(only).is_red = is_red,
            }
            return;
        }
        let mut heir = second;
        while self.node(heir).children[0] != NONE {
            heir = self.node(heir).children[0];
        }
        let Node { parent: of_heir, children: [_, rest], is_red: was_red, .. } =
            self.nodes[heir as usize];
        let below = if of_heir == index { heir } else { of_heir };
        if of_heir != index {
            self.replace(bucket, of_heir, heir, rest);
            self.node(heir).children[1] = second;
            self.node(second).parent = heir;
        }
        self.node(heir).children[0] = first;
        self.node(first).parent = heir;
        self.replace(bucket, parent, index, heir);
        self.node(heir).is_red = is_red;
        match rest {
            NONE if !was_red => self.after_removal(bucket, below),
            NONE => {}
            _ => self.node(rest).is_red = false,
        }
    }

    fn node(&mut self, index: u32) -> &mut Node {
        &mut self.nodes[index as usize]
    }

    fn is_red(&self, index: u32) -> bool {
        index != NONE && self.nodes[index as usize].is_red
    }

    /// Puts a node, or `None`, in the place of another below its parent.
    fn replace(&mut self, bucket: usize, parent: u32, old: u32, new: u32) {
        match parent {
            NONE => self.roots[bucket] = new,
            _ => {
                let side = self.side(parent, old);
                self.node(parent).children[side] = new;
            }
        }
        if new != NONE {
            self.node(new).parent = parent;
        }
    }

    /// On which side of its parent a child is.
    fn side(&self, parent: u32, child: u32) -> usize {
        usize::from(self.nodes[parent as usize].children[1] == child)
    }

    /// Rotates a node down to a side; its child on the other side moves up.
    fn rotate(&mut self, bucket: usize, index: u32, side: usize) {
        let up = self.node(index).children[1 - side];
        let between = self.node(up).children[side];
        let parent = self.node(index).parent;
        self.replace(bucket, parent, index, up);
        self.node(up).children[side] = index;
        self.node(index).parent = up;
        self.node(index).children[1 - side] = between;
        if between != NONE {
            self.node(between).parent = index;
        }
    }

    fn after_insertion(&mut self, bucket: usize, mut index: u32) {
        loop {
            let mut parent = self.node(index).parent;
            if !self.is_red(parent) {
                break;
            }
            let above = self.node(parent).parent;
            let side = self.side(above, parent);
            let uncle = self.node(above).children[1 - side];
            if self.is_red(uncle) {
                (self.node(uncle).is_red, self.node(parent).is_red) = (false, false);
                self.node(above).is_red = true;
                index = above;
                continue;
            }
            if self.side(parent, index) != side {
                self.rotate(bucket, parent, side);
                parent = index;
            }
            self.node(parent).is_red = false;
            self.node(above).is_red = true;
            self.rotate(bucket, above, 1 - side);
            break;
        }
        let root = self.roots[bucket];
        self.node(root).is_red = false;
    }

    /// Rebalances when, below `parent`, the side without a child lacks a black node.
    fn after_removal(&mut self, bucket: usize, mut parent: u32) {
        let mut index = NONE;
        while parent != NONE {
            let side = self.side(parent, index);
            let mut sibling = self.node(parent).children[1 - side];
            if self.is_red(sibling) {
                self.rotate(bucket, parent, side);
                (self.node(sibling).is_red, self.node(parent).is_red) = (false, true);
                sibling = self.node(parent).children[1 - side];
            }
            let children = self.node(sibling).children;
            if !self.is_red(children[0]) && !self.is_red(children[1]) {
                self.node(sibling).is_red = true;
                if self.is_red(parent) {
                    self.node(parent).is_red = false;
                    return;
                }
                (index, parent) = (parent, self.node(parent).parent);
                continue;
            }
            if !self.is_red(children[1 - side]) {
                self.rotate(bucket, sibling, 1 - side);
                self.node(sibling).is_red = true;
                sibling = children[side];
            }
            self.node(sibling).is_red = self.is_red(parent);
            self.node(parent).is_red = false;
            let far = self.node(sibling).children[1 - side];
            self.node(far).is_red = false;
            self.rotate(bucket, parent, side);
            return;
        }
    }
}
