import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { bodyOf, inProject, POST } from "../api/client";
import { useSettled } from "../api/settled";
import { useSession } from "../session/session";
import { isCompletable, MAX_SUGGESTIONS, type Suggestion, usefulSuggestions } from "./suggest";

export type Suggestions = { items: Suggestion[]; isExact: boolean };
const NONE: Suggestions = { items: [], isExact: true };

/**
 * Terms that complete the typed text, requested when the user pauses. Further typing cancels the request. The search does
 * not depend on them, so after an error the list has no suggestions.
 */
export function useSuggestions(
  project: string,
  template: string,
  text: string,
  isEnabled: boolean,
): Suggestions {
  const { key } = useSession();
  const isPaused = useSettled(text);
  const { data } = useQuery({
    queryKey: [key, "suggestions", project, template, text],
    queryFn: ({ signal }) =>
      bodyOf(
        POST("/v1/entities/search/{template}/suggest", {
          params: { path: { template }, header: inProject(project) },
          body: { prefix: text, limit: MAX_SUGGESTIONS },
          signal,
        }),
      ),
    enabled: isEnabled && isPaused && isCompletable(text),
    retry: false,
    staleTime: 60_000,
    gcTime: 60_000,
  });
  return useMemo(
    () =>
      isEnabled && data ? { items: usefulSuggestions(text, data.suggestions), isExact: data.exact } : NONE,
    [isEnabled, data, text],
  );
}
