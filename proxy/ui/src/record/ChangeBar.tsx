import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { bodyOf, GET } from "../api/client";
import { type RecordBody, useTemplate } from "../api/queries";
import { Button } from "../components/Button";
import { Notice } from "../components/Notice";
import { datetimeText, relativeText } from "../format/date";
import { messages } from "../language";
import { entriesOf, entrySentence, fieldLabel } from "./sentences";
import { dismissChanges, historyKey, type Shown } from "./store";

const t = messages.record;
const NEWEST = 20;
const MAX_SHOWN = 3;

/** The newest entries of the history, for the authors of recent changes. */
export function useNewest(record: RecordBody, isEnabled: boolean) {
  return useQuery({
    queryKey: [...historyKey(record.id), "newest", record.updated_at],
    queryFn: async () =>
      (
        await bodyOf(
          GET("/v1/entities/{id}/history", { params: { path: { id: record.id }, query: { limit: NEWEST } } }),
        )
      ).history,
    enabled: isEnabled,
  });
}

/** A relative time that is updated while it is shown. */
export function Ago({ at }: { at: string }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 5_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={at} title={`${datetimeText(at)} (${at})`}>
      {relativeText(at)}
    </time>
  );
}

type WhoProps = { project: string; record: RecordBody; fields: readonly string[] };

/** "Anna set City to Bern 10 seconds ago." for each of these fields. */
export function ChangeAuthors({ project, record, fields }: WhoProps) {
  const template = useTemplate(project, record.template_slug ?? "");
  const newest = useNewest(record, true);
  const recent = entriesOf(newest.data ?? [], fields);
  if (recent.length === 0) {
    return (
      <>{t.changedFields(t.otherUser, fields.map((field) => fieldLabel(template, field)).join(", "))}.</>
    );
  }
  return (
    <>
      {recent.slice(0, MAX_SHOWN).map(({ entry, fields: touched }) => (
        <span key={entry.version} dir="auto">
          {entrySentence(template, entry, touched)}, <Ago at={entry.at} />.{" "}
        </span>
      ))}
      {recent.length > MAX_SHOWN && t.andMore(recent.length - MAX_SHOWN)}
    </>
  );
}

/** Shows the changes of other users while the record is open. */
export function ChangeBar({
  project,
  shown,
  onHistory,
}: {
  project: string;
  shown: Shown;
  onHistory: () => void;
}) {
  if (shown.changed.length === 0) return null;
  return (
    <Notice
      kind="attention"
      actions={
        <>
          <Button kind="quiet" onPress={onHistory}>
            {t.showHistory}
          </Button>
          <Button kind="quiet" onPress={() => dismissChanges(shown.record.id)}>
            {t.dismiss}
          </Button>
        </>
      }
    >
      <ChangeAuthors project={project} record={shown.record} fields={shown.changed} />
    </Notice>
  );
}
