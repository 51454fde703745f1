/** Existing values of an attribute, most frequent first. */
import { useQuery } from "@tanstack/react-query";
import { bodyOf, inProject, POST } from "../api/client";
import type { Json } from "../api/json";
import { useSession } from "../session/session";
import { textOf } from "./exact";

const MAX_SHOWN = 8;
/** Longer text is not offered as a choice. */
const MAX_CHOICE_LENGTH = 60;

/** The values that contain the typed text, except those in the list. Values that begin with it come first. */
export function matchingValues(
  values: readonly string[],
  typed: string,
  elements: readonly string[],
): string[] {
  const text = typed.toLocaleLowerCase();
  const fits = values.filter(
    (it) =>
      it !== "" &&
      it.length <= MAX_CHOICE_LENGTH &&
      !elements.includes(it) &&
      it.toLocaleLowerCase().includes(text),
  );
  const begins = (it: string) => it.toLocaleLowerCase().startsWith(text);
  return [...fits.filter(begins), ...fits.filter((it) => !begins(it))].slice(0, MAX_SHOWN);
}

/** The existing values of an attribute in a template; empty while they load. */
export function useExisting(project: string, template: string | undefined, slug: string, isEnabled: boolean) {
  const { key } = useSession();
  const { data } = useQuery({
    queryKey: [key, "existing", project, template, slug],
    queryFn: async ({ signal }) => {
      const body = { facets: [slug], fields: ["id"], limit: 1, count: "none" as const };
      const params = { path: { template: template ?? "" }, header: inProject(project) };
      const { facets } = await bodyOf(POST("/v1/entities/search/{template}", { params, body, signal }));
      return ((facets?.[slug] ?? []) as { value: Json }[]).map(({ value }) => textOf(value));
    },
    enabled: isEnabled && template !== undefined,
    staleTime: 60_000,
    retry: false,
  });
  return data ?? NONE;
}

const NONE: readonly string[] = [];
