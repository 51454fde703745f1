//! The shape of a plan: its nodes, and their tables and indexes, without conditions, constants and parameters.

use pgrx::PgList;
use pgrx::pg_sys::{self, List, NodeTag, Oid, Plan, PlannedStmt};
use std::ffi::CStr;

/// The maximum number of nodes that are shown.
const MAX_NODES: usize = 64;
/// The maximum depth of a node that is shown.
const MAX_DEPTH: usize = 32;

/// The shape of a plan, for example `Limit (Sort (Seq Scan on crm.customers))`.
///
/// # Safety
/// The statement is a live plan, and a transaction is in progress.
pub(super) unsafe fn of(statement: *const PlannedStmt) -> String {
    // SAFETY: the caller's.
    unsafe {
        let mut shape = Shape { rtable: (*statement).rtable, text: String::new(), nodes: 0 };
        shape.add((*statement).planTree, 0);
        // Init plans and subplans, to which expressions refer by number.
        for plan in PgList::<Plan>::from_pg((*statement).subplans).iter_ptr() {
            if !plan.is_null() {
                shape.text += "; subplan: ";
                shape.add(plan, 0);
            }
        }
        shape.text
    }
}

struct Shape {
    rtable: *mut List,
    text: String,
    nodes: usize,
}

impl Shape {
    /// # Safety
    /// The node belongs to the plan.
    unsafe fn add(&mut self, plan: *const Plan, depth: usize) {
        self.nodes += 1;
        if self.nodes > MAX_NODES || depth > MAX_DEPTH {
            self.text += "…";
            return;
        }
        // SAFETY: the caller's; the tag of a node determines its struct.
        unsafe {
            let tag = (*plan).type_;
            self.text += name(tag).unwrap_or("other");
            match tag {
                NodeTag::T_IndexScan => self.index((*plan.cast::<pg_sys::IndexScan>()).indexid),
                NodeTag::T_IndexOnlyScan => self.index((*plan.cast::<pg_sys::IndexOnlyScan>()).indexid),
                NodeTag::T_BitmapIndexScan => self.index((*plan.cast::<pg_sys::BitmapIndexScan>()).indexid),
                NodeTag::T_ModifyTable => {
                    let tables = PgList::<()>::from_pg((*plan.cast::<pg_sys::ModifyTable>()).resultRelations);
                    if let Some(table) = tables.get_int(0) {
                        self.relation(table.unsigned_abs());
                    }
                }
                _ => {}
            }
            if is_scan_of_table(tag) {
                self.relation((*plan.cast::<pg_sys::Scan>()).scanrelid);
            }
            let children = children(plan, tag);
            if children.is_empty() {
                return;
            }
            self.text += " (";
            for (position, child) in children.into_iter().enumerate() {
                if position > 0 {
                    self.text += ", ";
                }
                self.add(child, depth + 1);
            }
            self.text += ")";
        }
    }

    fn index(&mut self, index: Oid) {
        self.text += " using ";
        // SAFETY: reads the catalog. The name is a copy, or null if the index was dropped.
        self.text += &text(unsafe { pg_sys::get_rel_name(index) });
    }

    /// # Safety
    /// The number is a position in the statement's range table.
    unsafe fn relation(&mut self, number: u32) {
        // SAFETY: the caller's. Names are copies, or null if the table was dropped.
        unsafe {
            let tables = PgList::<pg_sys::RangeTblEntry>::from_pg(self.rtable);
            let Some(table) = (number as usize).checked_sub(1).and_then(|position| tables.get_ptr(position))
            else {
                return;
            };
            if (*table).rtekind != pg_sys::RTEKind::RTE_RELATION {
                return;
            }
            let schema = text(pg_sys::get_namespace_name(pg_sys::get_rel_namespace((*table).relid)));
            self.text += &format!(" on {schema}.{}", text(pg_sys::get_rel_name((*table).relid)));
        }
    }
}

fn text(name: *const std::ffi::c_char) -> String {
    if name.is_null() {
        return "?".to_owned();
    }
    // SAFETY: a catalog name is NUL-terminated.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

/// The child nodes of a node.
///
/// # Safety
/// The tag is that of the node.
unsafe fn children(plan: *const Plan, tag: NodeTag) -> Vec<*const Plan> {
    // SAFETY: the caller's.
    unsafe {
        let several = match tag {
            NodeTag::T_Append => (*plan.cast::<pg_sys::Append>()).appendplans,
            NodeTag::T_MergeAppend => (*plan.cast::<pg_sys::MergeAppend>()).mergeplans,
            NodeTag::T_BitmapAnd => (*plan.cast::<pg_sys::BitmapAnd>()).bitmapplans,
            NodeTag::T_BitmapOr => (*plan.cast::<pg_sys::BitmapOr>()).bitmapplans,
            _ => std::ptr::null_mut(),
        };
        let mut children: Vec<*const Plan> = vec![(*plan).lefttree, (*plan).righttree];
        if tag == NodeTag::T_SubqueryScan {
            children.push((*plan.cast::<pg_sys::SubqueryScan>()).subplan);
        }
        children.extend(PgList::<Plan>::from_pg(several).iter_ptr().map(|child| child.cast_const()));
        children.retain(|child| !child.is_null());
        children
    }
}

/// Whether a node reads one table.
fn is_scan_of_table(tag: NodeTag) -> bool {
    matches!(
        tag,
        NodeTag::T_SeqScan
            | NodeTag::T_SampleScan
            | NodeTag::T_IndexScan
            | NodeTag::T_IndexOnlyScan
            | NodeTag::T_BitmapHeapScan
            | NodeTag::T_TidScan
            | NodeTag::T_TidRangeScan
    )
}

/// The name of a node in EXPLAIN.
fn name(tag: NodeTag) -> Option<&'static str> {
    Some(match tag {
        NodeTag::T_Result => "Result",
        NodeTag::T_ProjectSet => "ProjectSet",
        NodeTag::T_ModifyTable => "ModifyTable",
        NodeTag::T_Append => "Append",
        NodeTag::T_MergeAppend => "Merge Append",
        NodeTag::T_RecursiveUnion => "Recursive Union",
        NodeTag::T_BitmapAnd => "BitmapAnd",
        NodeTag::T_BitmapOr => "BitmapOr",
        NodeTag::T_NestLoop => "Nested Loop",
        NodeTag::T_MergeJoin => "Merge Join",
        NodeTag::T_HashJoin => "Hash Join",
        NodeTag::T_SeqScan => "Seq Scan",
        NodeTag::T_SampleScan => "Sample Scan",
        NodeTag::T_Gather => "Gather",
        NodeTag::T_GatherMerge => "Gather Merge",
        NodeTag::T_IndexScan => "Index Scan",
        NodeTag::T_IndexOnlyScan => "Index Only Scan",
        NodeTag::T_BitmapIndexScan => "Bitmap Index Scan",
        NodeTag::T_BitmapHeapScan => "Bitmap Heap Scan",
        NodeTag::T_TidScan => "Tid Scan",
        NodeTag::T_TidRangeScan => "Tid Range Scan",
        NodeTag::T_SubqueryScan => "Subquery Scan",
        NodeTag::T_FunctionScan => "Function Scan",
        NodeTag::T_ValuesScan => "Values Scan",
        NodeTag::T_CteScan => "CTE Scan",
        NodeTag::T_NamedTuplestoreScan => "Named Tuplestore Scan",
        NodeTag::T_WorkTableScan => "WorkTable Scan",
        NodeTag::T_ForeignScan => "Foreign Scan",
        NodeTag::T_CustomScan => "Custom Scan",
        NodeTag::T_Material => "Materialize",
        NodeTag::T_Memoize => "Memoize",
        NodeTag::T_Sort => "Sort",
        NodeTag::T_IncrementalSort => "Incremental Sort",
        NodeTag::T_Group => "Group",
        NodeTag::T_Agg => "Aggregate",
        NodeTag::T_WindowAgg => "WindowAgg",
        NodeTag::T_Unique => "Unique",
        NodeTag::T_Hash => "Hash",
        NodeTag::T_SetOp => "SetOp",
        NodeTag::T_LockRows => "LockRows",
        NodeTag::T_Limit => "Limit",
        _ => return None,
    })
}
