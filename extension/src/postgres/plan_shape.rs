//! The shape of a plan: its nodes, and the tables and indexes that they read. No condition, no constant, no parameter.

use pgrx::PgList;
use pgrx::pg_sys::{self, List, NodeTag, Oid, Plan, PlannedStmt};
use std::ffi::CStr;

/// The maximum number of nodes that are shown.
const MAX_NODES: usize = 64;
/// The deepest node that is shown.
const DEEPEST: usize = 32;

/// Such as `Limit (Sort (Seq Scan on crm.customers))`.
///
/// # Safety
/// The statement is a plan of PostgreSQL that lives, inside of a transaction.
pub(super) unsafe fn of(statement: *const PlannedStmt) -> String {
    // SAFETY: the caller's.
    unsafe {
        let mut shape = Shape { rtable: (*statement).rtable, text: String::new(), nodes: 0 };
        shape.add((*statement).planTree, 0);
        // Those that are run once or for each row of another, which say only by a number where they belong.
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
    /// The node belongs to the plan, or is null.
    unsafe fn add(&mut self, plan: *const Plan, depth: usize) {
        self.nodes += 1;
        if self.nodes > MAX_NODES || depth > DEEPEST {
            self.text += "…";
            return;
        }
        // SAFETY: the caller's; a node's tag says which structure it is, which begins with that of its kind.
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
            for (place, child) in children.into_iter().enumerate() {
                if place > 0 {
                    self.text += ", ";
                }
                self.add(child, depth + 1);
            }
            self.text += ")";
        }
    }

    fn index(&mut self, index: Oid) {
        self.text += " using ";
        // SAFETY: reads the catalog; the name is a copy, or null if the index is gone.
        self.text += &text(unsafe { pg_sys::get_rel_name(index) });
    }

    /// # Safety
    /// The number is one of the statement's list of tables.
    unsafe fn relation(&mut self, number: u32) {
        // SAFETY: the caller's; names are copies, or null if the table is gone.
        unsafe {
            let tables = PgList::<pg_sys::RangeTblEntry>::from_pg(self.rtable);
            let Some(table) = (number as usize).checked_sub(1).and_then(|place| tables.get_ptr(place)) else {
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
    // SAFETY: a name of the catalog is NUL-terminated.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

/// The nodes that a node asks for rows.
///
/// # Safety
/// The node is of the kind that the tag says.
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

/// The name of a node, as EXPLAIN says it.
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
