import { useInfiniteQuery } from "@tanstack/react-query";
import { ArrowRight, History as HistoryIcon, RotateCcw } from "lucide-react";
import { bodyOf, GET } from "../api/client";
import type { Json } from "../api/json";
import type { Attribute, RecordBody, Template } from "../api/queries";
import { Button, IconButton } from "../components/Button";
import { Empty } from "../components/Empty";
import { Failure, Skeleton } from "../components/Notice";
import { messages } from "../language";
import { isSame } from "../value/exact";
import { isEmptyValue } from "../value/text";
import { Ago } from "./ChangeBar";
import { NamedValue } from "./Conflict";
import style from "./History.module.css";
import { fieldOf, KEY } from "./merge";
import { restoreValue } from "./save";
import { attributeOf, changesOf, type Entry, entrySentence, fieldLabel, sourceOf } from "./sentences";
import { historyKey } from "./store";

const t = messages.record;

type Props = { project: string; template: Template; record: RecordBody; mayEdit: boolean };

/** The history of the record, newest first. */
export function History({ project, template, record, mayEdit }: Props) {
  const history = useInfiniteQuery({
    queryKey: [...historyKey(record.id), "pages"],
    queryFn: async ({ pageParam }) => {
      const query = pageParam === null ? {} : { cursor: pageParam };
      return bodyOf(GET("/v1/entities/{id}/history", { params: { path: { id: record.id }, query } }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  });
  if (history.isError && !history.data)
    return <Failure error={history.error} retry={() => history.refetch()} />;
  if (!history.data) return <Skeleton lines={6} />;
  const entries = history.data.pages.flatMap((page) => page.history);
  if (entries.length === 0) return <Empty icon={HistoryIcon} title={t.noHistory} />;
  return (
    <>
      <ol className={style.timeline} aria-label={t.history}>
        {entries.map((entry) => (
          <li key={entry.version} className={style.entry}>
            <p className={style.sentence}>
              <span dir="auto">{entrySentence(template, entry)}</span>
            </p>
            <p className={style.when} title={entry.actor}>
              <Ago at={entry.at} />, {sourceOf(entry.source)}
            </p>
            <Changes project={project} template={template} record={record} entry={entry} mayEdit={mayEdit} />
          </li>
        ))}
      </ol>
      {history.hasNextPage && (
        <Button onPress={() => history.fetchNextPage()} isPending={history.isFetchingNextPage}>
          {t.more}
        </Button>
      )}
      {history.isFetchNextPageError && (
        <Failure error={history.error} retry={() => history.fetchNextPage()} />
      )}
    </>
  );
}

type ChangesProps = Props & { entry: Entry };

/** The changes field by field: the old value struck through, the new one plain. */
function Changes({ project, template, record, entry, mayEdit }: ChangesProps) {
  const changes = changesOf(template, entry);
  if (changes.length === 0) return null;
  return (
    <dl className={style.changes}>
      {changes.map(([field, change]) => {
        const attribute = attributeOf(template, field) ?? keyAttribute(field);
        const [before, after] = [change.old as Json, change.new as Json];
        const isRestorable =
          mayEdit &&
          entry.operation === "update" &&
          attribute.type !== "metric" &&
          (field === KEY || attributeOf(template, field) !== undefined) &&
          !isSame(fieldOf(record, field), before ?? null);
        const label = fieldLabel(template, field);
        return (
          <div key={field} className={style.change}>
            <dt dir="auto">{label}</dt>
            <dd>
              {!isEmptyValue(before) && (
                <>
                  <del className={style.old}>
                    <NamedValue project={project} attribute={attribute} value={before} />
                  </del>
                  <ArrowRight size={12} className={style.arrow} aria-label={t.becomes} />
                </>
              )}
              {isEmptyValue(after) ? (
                <span className={style.none}>{t.noValue}</span>
              ) : (
                <span className={style.new}>
                  <NamedValue project={project} attribute={attribute} value={after} />
                </span>
              )}
              {isRestorable && (
                <span className={style.restore}>
                  <IconButton
                    icon={RotateCcw}
                    size="small"
                    label={`${t.restoreValue}: ${label}`}
                    onPress={() =>
                      restoreValue(
                        project,
                        record.id,
                        { slug: field, label },
                        fieldOf(record, field),
                        before ?? null,
                      )
                    }
                  />
                </span>
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** The key, and attributes that the template no longer has, are shown as text. */
const keyAttribute = (slug: string) => ({ slug, type: "string" }) as Attribute;
