import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useLocation, useSearch } from "wouter";
import { answer, GET, inProject } from "../api/client";
import type { Template } from "../api/queries";
import { useSession } from "../session/session";
import { encodeState } from "./address";
import { stateOfView } from "./view";

/**
 * An address that names a view and nothing else opens it: its parts take their places in the address. Answers whether
 * that is still to come.
 */
export function useOpenedView(project: string, template: Template | undefined): boolean {
  const { key } = useSession();
  const [path, navigate] = useLocation();
  const parts = new URLSearchParams(useSearch());
  const slug = parts.size === 1 ? parts.get("view") : null;
  const isAsked = slug !== null && template !== undefined;
  const views = useQuery({
    queryKey: [key, "views", project, template?.slug],
    queryFn: async () => {
      const params = { path: { template: template?.slug ?? "" }, header: inProject(project) };
      return (await answer(GET("/v1/templates/{template}/views", { params }))).views;
    },
    enabled: isAsked,
    staleTime: 60_000,
  });
  const view = isAsked ? views.data?.find((it) => it.slug === slug) : undefined;
  const opened = view && template ? encodeState(stateOfView(view, template)) : null;
  const isOpened = opened === null || opened === `view=${slug}`;
  useEffect(() => {
    if (!isOpened) navigate(`${path}?${opened}`, { replace: true });
  }, [isOpened, opened, path, navigate]);
  return isAsked && (views.isPending || !isOpened);
}
