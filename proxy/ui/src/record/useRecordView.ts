import { useSearchParams } from "wouter";

const TABS = ["details", "metrics", "history", "related", "access"] as const;
export type Tab = (typeof TABS)[number];

/** Whether the record fills the page, and its tab. Both are in the query of the address, so that they can be shared. */
export function useRecordView() {
  const [search, setSearch] = useSearchParams();
  const set = (name: string, value: string | null) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === null) next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  return {
    isFull: search.get("record") === "page",
    setFull: (isFull: boolean) => set("record", isFull ? "page" : null),
    tab: TABS.find((tab) => tab === search.get("tab")) ?? "details",
    setTab: (tab: Tab) => set("tab", tab === "details" ? null : tab),
  };
}
