import { useQueries } from "@tanstack/react-query";
import { Link2 } from "lucide-react";
import { Link } from "wouter";
import { bodyOf, inProject, POST } from "../api/client";
import { privileges, type RecordBody, type Template, useMe, useTemplates } from "../api/queries";
import { Empty } from "../components/Empty";
import { Failure, Skeleton } from "../components/Notice";
import { encodeCondition, PARAMETER } from "../filter/address";
import { attributeLabel } from "../format/label";
import { messages } from "../language";
import { number } from "../language/plural";
import { addresses } from "../navigation/addresses";
import { useSession } from "../session/session";
import { KeyValue } from "../value/KeyValue";
import { targetOf } from "../value/references";
import style from "./Related.module.css";
import { referring } from "./referring";

const t = messages.record;
const SHOWN = 10;

/** The address of the list of all records that refer to this one through an attribute. */
function listOf(project: string, template: string, field: string, id: string): string {
  const condition = encodeCondition({ field, operator: "eq", value: id });
  return `${addresses.list(project, template)}?${PARAMETER}=${encodeURIComponent(condition)}`;
}

type Props = { project: string; template: Template; record: RecordBody };

/** The records that refer to this one, by template and attribute. */
export function Related({ project, template, record }: Props) {
  const { key } = useSession();
  const templates = useTemplates(project);
  const me = useMe(project);
  const readable = (templates.data ?? []).filter(({ slug }) =>
    privileges(me.data, project, slug).has("read"),
  );
  const sources = referring(readable, template.slug);
  const found = useQueries({
    queries: sources.map(({ from, attribute }) => ({
      queryKey: [key, "related", project, record.id, from.slug, attribute.slug],
      queryFn: async () =>
        bodyOf(
          POST("/v1/entities/search/{template}", {
            params: { path: { template: from.slug }, header: inProject(project) },
            body: {
              filters: [{ field: attribute.slug, operator: "eq" as const, value: record.id }],
              fields: from.display ? [from.display] : [],
              limit: SHOWN,
              count: "exact" as const,
            },
          }),
        ),
    })),
  });
  if (templates.isError) return <Failure error={templates.error} retry={() => templates.refetch()} />;
  if (!templates.data || !me.data) return <Skeleton />;
  if (sources.length === 0)
    return (
      <Empty icon={Link2} title={t.noRelated}>
        {t.noReferring}
      </Empty>
    );
  const hasNoResults = found.every((it) => it.data?.total === 0);
  if (hasNoResults)
    return (
      <Empty icon={Link2} title={t.noRelated}>
        {t.noRelatedHint}
      </Empty>
    );
  return (
    <div className={style.related}>
      {sources.map(({ from, attribute }, index) => {
        const result = found[index];
        const title = t.relatedBy(from.label ?? from.slug, attributeLabel(attribute));
        if (result?.data?.total === 0) return null;
        const total = result?.data?.total ?? 0;
        return (
          <section key={`${from.slug}.${attribute.slug}`} aria-label={title}>
            <header className={style.head}>
              <h3 dir="auto">{title}</h3>
              {result?.data && <span className={style.count}>{number(total)}</span>}
            </header>
            {result?.isError ? (
              <Failure error={result.error} retry={() => result.refetch()} />
            ) : !result?.data ? (
              <Skeleton lines={2} />
            ) : (
              <ul className={style.list}>
                {result.data.records.map((it) => (
                  <li key={it.id} className={style.item}>
                    <Link href={addresses.record(project, from.slug, it.id)} dir="auto">
                      {targetOf(it, from.display).name}
                    </Link>
                    <KeyValue value={it.external_key} isCopied={false} />
                  </li>
                ))}
              </ul>
            )}
            {total > SHOWN && (
              <Link href={listOf(project, from.slug, attribute.slug, record.id)}>
                {t.showAll(number(total))}
              </Link>
            )}
          </section>
        );
      })}
    </div>
  );
}
