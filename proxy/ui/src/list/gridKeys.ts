/** The keyboard actions of the grid of records, as pure functions. */
import { HEAD } from "./GridHead";

export type Cell = { row: number; cell: number };

export type GridAction =
  | { kind: "move"; to: Cell; isSelecting: boolean }
  | { kind: "open" | "copy" | "select-all" | "clear" }
  | { kind: "select"; isRange: boolean }
  | { kind: "sort"; isAdded: boolean }
  | { kind: "resize"; by: number };

export type Key = { key: string; shiftKey: boolean; altKey: boolean; ctrlKey: boolean; metaKey: boolean };

const RESIZE_STEP = 16;

/** The action of a key at a cell of a grid with this many rows and cells; null if the grid ignores the key. */
export function gridAction(
  pressed: Key,
  { row, cell }: Cell,
  size: { rows: number; cells: number; page: number },
): GridAction | null {
  const { key, shiftKey, altKey } = pressed;
  const isMod = pressed.ctrlKey || pressed.metaKey;
  const isHead = row === HEAD;
  const move = (to: Cell, isSelecting = false): GridAction => ({
    kind: "move",
    to: {
      row: Math.max(HEAD, Math.min(size.rows - 1, to.row)),
      cell: Math.max(0, Math.min(size.cells - 1, to.cell)),
    },
    isSelecting,
  });
  if (altKey) {
    if (isHead && key === "ArrowLeft") return { kind: "resize", by: -RESIZE_STEP };
    if (isHead && key === "ArrowRight") return { kind: "resize", by: RESIZE_STEP };
    return null;
  }
  switch (key) {
    case "ArrowUp":
      return move({ row: row - 1, cell }, shiftKey && row > 0);
    case "ArrowDown":
      return move({ row: row + 1, cell }, shiftKey && !isHead);
    case "ArrowLeft":
      return move({ row, cell: cell - 1 });
    case "ArrowRight":
      return move({ row, cell: cell + 1 });
    case "Home":
      return isMod ? move({ row: 0, cell }) : move({ row, cell: 0 });
    case "End":
      return isMod ? move({ row: size.rows - 1, cell }) : move({ row, cell: size.cells - 1 });
    case "PageUp":
      return move({ row: Math.max(0, row - size.page), cell });
    case "PageDown":
      return move({ row: row + size.page, cell });
    case "Enter":
      if (!isHead) return { kind: "open" };
      return cell === 0 ? { kind: "select", isRange: false } : { kind: "sort", isAdded: shiftKey };
    case " ":
      return isHead && cell > 0 ? { kind: "sort", isAdded: shiftKey } : { kind: "select", isRange: shiftKey };
    case "Escape":
      return { kind: "clear" };
    case "c":
      return isHead ? null : { kind: "copy" };
    case "a":
      return isMod ? { kind: "select-all" } : null;
    default:
      return null;
  }
}
