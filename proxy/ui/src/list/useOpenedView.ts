import { useEffect } from "react";
import { useLocation, useSearch } from "wouter";
import type { Template } from "../api/queries";
import { useViews } from "../filter/view";
import { encodeState } from "./address";
import { stateOfView } from "./view";

/**
 * Opens the view of an address that specifies only a view: the state of the view replaces the address. Returns whether
 * this is still pending.
 */
export function useOpenedView(project: string, slug: string, template: Template | undefined): boolean {
  const [path, navigate] = useLocation();
  const parts = new URLSearchParams(useSearch());
  const requested = parts.size === 1 ? parts.get("view") : null;
  const isAsked = requested !== null && template !== undefined;
  const views = useViews(project, slug);
  const view = isAsked ? views.data?.find((it) => it.slug === requested) : undefined;
  const opened = view && template ? encodeState(stateOfView(view, template)) : null;
  const isOpened = opened === null || opened === `view=${requested}`;
  useEffect(() => {
    if (!isOpened) navigate(`${path}?${opened}`, { replace: true });
  }, [isOpened, opened, path, navigate]);
  return isAsked && (views.isPending || !isOpened);
}
