/** The addresses of the pages. */

const part = encodeURIComponent;

export const addresses = {
  home: () => "/",
  project: (project: string) => `/p/${part(project)}`,
  list: (project: string, template: string) => `/p/${part(project)}/t/${part(template)}`,
  found: (project: string, template: string, search: string) =>
    `/p/${part(project)}/t/${part(template)}?q=${part(search)}`,
  deleted: (project: string, template: string) => `/p/${part(project)}/t/${part(template)}?deleted=yes`,
  view: (project: string, template: string, view: string) =>
    `/p/${part(project)}/t/${part(template)}?view=${part(view)}`,
  record: (project: string, template: string, id: string) =>
    `/p/${part(project)}/t/${part(template)}/r/${part(id)}`,
  newTemplate: (project: string) => `/p/${part(project)}/new-template`,
  template: (project: string, template: string) => `/p/${part(project)}/t/${part(template)}/definition`,
  import: (project: string, template: string) => `/p/${part(project)}/t/${part(template)}/import`,
  files: (project: string) => `/p/${part(project)}/files`,
  inbound: (project: string) => `/p/${part(project)}/inbound`,
  newEndpoint: (project: string) => `/p/${part(project)}/inbound/new-endpoint`,
  endpoint: (project: string, endpoint: string, tab = "mapping") =>
    `/p/${part(project)}/inbound/${part(endpoint)}/${part(tab)}`,
  delivery: (project: string, endpoint: string, delivery: string) =>
    `/p/${part(project)}/inbound/${part(endpoint)}/deliveries/${part(delivery)}`,
  webhooks: (project: string) => `/p/${part(project)}/webhooks`,
  newWebhook: (project: string) => `/p/${part(project)}/webhooks/new-endpoint`,
  webhook: (project: string, endpoint: string, tab = "deliveries") =>
    `/p/${part(project)}/webhooks/${part(endpoint)}/${part(tab)}`,
  webhookDelivery: (project: string, endpoint: string, delivery: string) =>
    `/p/${part(project)}/webhooks/${part(endpoint)}/deliveries/${part(delivery)}`,
  access: (project: string, tab?: string) =>
    `/p/${part(project)}/access${tab === undefined ? "" : `/${part(tab)}`}`,
  operations: (project: string) => `/p/${part(project)}/operations`,
  reference: () => "/docs",
};
