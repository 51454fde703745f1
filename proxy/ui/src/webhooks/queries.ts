/** Queries of the webhooks pages. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { bodyOf, GET, inProject, type Schemas } from "../api/client";
import { queryClient } from "../api/queries";
import { useSession } from "../session/session";

export type Endpoint = Schemas["WebhookEndpoint"];
export type Delivery = Schemas["WebhookDelivery"];
export type DeliveryState = Delivery["state"];

/** The polling intervals of a list of deliveries, in milliseconds: if all are finished, and if not. */
const SLOW_POLL = 5_000;
const POLL = 2_000;
/** The polling interval of a test delivery. */
const TEST_POLL = 500;

export const isFinished = ({ state }: Pick<Delivery, "state">): boolean =>
  state === "done" || state === "failed";

const of = (project: string, endpoint: string) => ({ path: { endpoint }, header: inProject(project) });

export function useEndpoints(project: string) {
  const { key } = useSession();
  return useQuery({
    queryKey: [key, "webhooks", project],
    queryFn: async () =>
      (await bodyOf(GET("/v1/webhook-endpoints", { params: { header: inProject(project) } }))).endpoints,
  });
}

export function useEndpoint(project: string, endpoint: string) {
  const { key } = useSession();
  return useQuery({
    queryKey: [key, "webhooks", project, endpoint],
    queryFn: () => bodyOf(GET("/v1/webhook-endpoints/{endpoint}", { params: of(project, endpoint) })),
  });
}

/** The deliveries of an endpoint, newest first. They are polled while only the first page is shown. */
export function useDeliveries(project: string, endpoint: string, state: DeliveryState | null) {
  const { key } = useSession();
  return useInfiniteQuery({
    queryKey: [key, "webhooks", project, endpoint, "deliveries", state],
    queryFn: ({ pageParam }) => {
      const query = { ...(state && { state }), ...(pageParam && { cursor: pageParam }) };
      return bodyOf(
        GET("/v1/webhook-endpoints/{endpoint}/deliveries", { params: { ...of(project, endpoint), query } }),
      );
    },
    initialPageParam: "",
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: ({ state: { data } }) => {
      const [first, ...others] = data?.pages ?? [];
      if (others.length > 0) return false;
      return first?.deliveries.some((it) => !isFinished(it)) ? POLL : SLOW_POLL;
    },
  });
}

/** A delivery with its body, polled until it is finished. */
export function useDelivery(project: string, endpoint: string, id: string, isAwaited = false) {
  const { key } = useSession();
  return useQuery({
    queryKey: [key, "webhooks", project, endpoint, "delivery", id],
    queryFn: () => {
      const params = { header: inProject(project), path: { endpoint, id } };
      return bodyOf(GET("/v1/webhook-endpoints/{endpoint}/deliveries/{id}", { params }));
    },
    refetchInterval: ({ state: { data } }) => {
      if (data === undefined || isFinished(data)) return false;
      return isAwaited ? TEST_POLL : POLL;
    },
  });
}

/** Reloads all webhook data after a change, except for endpoints with these slugs or ids, which no longer exist. */
export const readAgain = (...gone: readonly string[]) =>
  queryClient.invalidateQueries({
    predicate: ({ queryKey }) => queryKey[1] === "webhooks" && !gone.includes(String(queryKey[3])),
  });
