/** Queries of the inbound pages. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { bodyOf, GET, inProject, type Schemas } from "../api/client";
import { asSentence } from "../api/problem";
import { type Attribute, queryClient } from "../api/queries";
import { pageMessages } from "../language/pages";
import { useSession } from "../session/session";

const t = pageMessages.inbound;

export type Delivery = Schemas["Delivery"];
export type DeliveryStatus = Delivery["status"];

/** The errors of a rejected delivery or a checked mapping. */
export type Rejection = {
  detail?: string;
  hint?: string;
  code?: string;
  errors?: { pointer: string; detail: string }[];
};

/** The readable form of a pointer into a delivery: "/items/0/attributes/city" is "Item 1, City". */
export function pointerInWords(pointer: string, attributes: readonly Attribute[]): string {
  const [, kind, item, part, member = ""] = pointer.split("/");
  if (kind !== "items" || item === undefined) return t.items;
  const of = t.itemNumber(Number(item) + 1);
  if (part === "external_key") return `${of}, ${t.externalKey}`;
  if (part !== "attributes") return of;
  const slug = member.replaceAll("~1", "/").replaceAll("~0", "~");
  return `${of}, ${attributes.find((attribute) => attribute.slug === slug)?.label ?? slug}`;
}

/** The reason of a rejected delivery, on one line. */
export function reasonText(rejection: Rejection | null, attributes: readonly Attribute[]): string {
  const [first, ...more] = rejection?.errors ?? [];
  if (first === undefined) return asSentence(rejection?.detail ?? "");
  const sentence = `${pointerInWords(first.pointer, attributes)}: ${first.detail}`;
  return more.length === 0 ? sentence : t.andMore(sentence, more.length);
}

export function useEndpoints(project: string) {
  const { key } = useSession();
  return useQuery({
    queryKey: [key, "inbound", project],
    queryFn: async () =>
      (await bodyOf(GET("/v1/inbound-endpoints", { params: { header: inProject(project) } }))).endpoints,
  });
}

export function useEndpoint(project: string, endpoint: string) {
  const { key } = useSession();
  return useQuery({
    queryKey: [key, "inbound", project, endpoint],
    queryFn: () =>
      bodyOf(
        GET("/v1/inbound-endpoints/{endpoint}", {
          params: { path: { endpoint }, header: inProject(project) },
        }),
      ),
  });
}

export function useDeliveries(project: string, endpoint: string, status: DeliveryStatus | null) {
  const { key } = useSession();
  return useInfiniteQuery({
    queryKey: [key, "inbound", project, endpoint, "deliveries", status],
    queryFn: ({ pageParam }) =>
      bodyOf(
        GET("/v1/inbound-endpoints/{endpoint}/deliveries", {
          params: {
            path: { endpoint },
            query: { ...(status && { status }), ...(pageParam && { cursor: pageParam }) },
            header: inProject(project),
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor,
  });
}

export function useDelivery(project: string, endpoint: string, id: string) {
  const { key } = useSession();
  return useQuery({
    queryKey: [key, "inbound", project, endpoint, "delivery", id],
    queryFn: () =>
      bodyOf(
        GET("/v1/inbound-endpoints/{endpoint}/deliveries/{id}", {
          params: { path: { endpoint, id }, header: inProject(project) },
        }),
      ),
  });
}

/** Reloads all inbound data after a change. */
export const readAgain = () =>
  queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === "inbound" });
