import { bodyOf, inProject, PATCH, type Schemas } from "../api/client";
import type { Endpoint } from "./queries";

export type Change = Schemas["WebhookEndpointChange"];

/** Changes an endpoint. Returns it, with a new secret if one was requested. @throws RequestError */
export const alter = (project: string, endpoint: Endpoint, body: Change): Promise<Endpoint> =>
  bodyOf(
    PATCH("/v1/webhook-endpoints/{endpoint}", {
      params: { path: { endpoint: endpoint.id }, header: inProject(project) },
      body,
    }),
  );
