import { Sparkles } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { readAdministrationAgain, useEmbeddingFailures, useEmbeddingStatus } from "../api/administration";
import { bodyOf, inProject, POST, type Schemas } from "../api/client";
import { sentence } from "../api/problem";
import { Button } from "../components/Button";
import { DataTable } from "../components/DataTable";
import { Empty } from "../components/Empty";
import { Failure, Notice, Skeleton } from "../components/Notice";
import { Section } from "../components/Page";
import { Progress } from "../components/Progress";
import { showErrorToast, showToast } from "../components/toast";
import { isPast, relativeTime } from "../format/moment";
import { TimeAgo } from "../format/TimeAgo";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { useReference } from "../value/references";
import style from "./Operations.module.css";
import { reasonText } from "./reason";

const t = pageMessages.operations;

type Status = Schemas["EmbeddingStatus"]["templates"][number];

/** The embedding progress of each template, and the records that failed. */
export function Embedding({ project }: { project: string }) {
  const status = useEmbeddingStatus(project);
  const [isStarting, setStarting] = useState(false);
  if (status.data === null) return null;
  const retry = async () => {
    setStarting(true);
    try {
      const queued = await bodyOf(POST("/v1/embeddings/retry", { params: { header: inProject(project) } }));
      showToast(t.retried(queued.count));
      await readAdministrationAgain();
    } catch (error) {
      showErrorToast(sentence(error));
    }
    setStarting(false);
  };
  const hasFailed = status.data?.some(({ failed }) => failed > 0);
  return (
    <Section
      title={t.embedding}
      lead={t.embeddingLead}
      actions={
        hasFailed && (
          <Button onPress={retry} isDisabled={isStarting}>
            {t.retry}
          </Button>
        )
      }
    >
      {status.isError && <Failure error={status.error} retry={() => status.refetch()} />}
      {status.isPending && <Skeleton lines={2} />}
      {status.data?.length === 0 && <Empty icon={Sparkles} title={t.noEmbedding} isPart />}
      {status.data?.map((template) => (
        <Template key={template.template} {...template} />
      ))}
      {status.data && status.data.length > 0 && <Failures project={project} />}
    </Section>
  );
}

/** Records that wait for a retry are due in the future. */
const dueText = (due: string) => (isPast(due) ? t.oldest : t.nextAt)(relativeTime(due));

function Template(status: Status) {
  const { template, pending, running, failed, done, by_hand, oldest_due, models } = status;
  const all = pending + running + failed + done;
  const facts = [
    ...(pending > 0 ? [t.waiting(pending)] : []),
    ...(pending > 0 && oldest_due !== null ? [dueText(oldest_due)] : []),
    ...(running > 0 ? [t.running(running)] : []),
    ...(failed > 0 ? [t.givenUp(failed)] : []),
    ...(by_hand > 0 ? [t.setManually(by_hand)] : []),
    ...(models.length === 1 ? [t.models(models.join())] : []),
  ];
  return (
    <div className={style.template}>
      <Progress label={template} value={all === 0 ? 1 : done / all} text={t.embedded(done, all)} />
      <span className={style.small}>{facts.join(" · ")}</span>
      {models.length > 1 && <Notice kind="attention">{t.mixedModels(models.join(", "))}</Notice>}
    </div>
  );
}

/** A link to a record by name. */
function RecordLink({ project, template, id }: { project: string; template: string; id: string }) {
  const { data } = useReference(project, template, id);
  return (
    <Link href={addresses.record(project, template, id)} title={id}>
      <bdi>{data?.name ?? id}</bdi>
    </Link>
  );
}

function Failures({ project }: { project: string }) {
  const failures = useEmbeddingFailures(project);
  if (failures.isError) return <Failure error={failures.error} retry={() => failures.refetch()} />;
  if (!failures.data || failures.data.length === 0) return null;
  return (
    <DataTable
      label={t.failures}
      columns={[
        {
          id: "record",
          title: t.record,
          cell: ({ template, record_id }) => {
            const [owner = project, slug = ""] = template.split(".");
            return <RecordLink project={owner} template={slug} id={record_id} />;
          },
        },
        { id: "template", title: t.template, cell: ({ template }) => <code>{template}</code> },
        { id: "reason", title: t.reason, cell: ({ error }) => <bdi>{reasonText(error)}</bdi> },
        {
          id: "failed",
          title: t.failedAt,
          cell: ({ failed_at }) => failed_at !== null && <TimeAgo at={failed_at} />,
        },
        {
          id: "next",
          title: t.nextTry,
          cell: ({ next_at }) => (next_at === null ? t.noRetry : <TimeAgo at={next_at} />),
        },
      ]}
      rows={failures.data}
      rowKey={({ record_id }) => record_id}
    />
  );
}
