import { Plus } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { answer, POST } from "../api/client";
import { RequestError } from "../api/problem";
import { type Project, queryClient, useMe, useProjects } from "../api/queries";
import { Button } from "../components/Button";
import { type Column, DataTable } from "../components/DataTable";
import { Dialog } from "../components/Dialog";
import { TextField } from "../components/Field";
import { Failure, Skeleton } from "../components/Notice";
import { Tag } from "../components/Tag";
import { sayDone } from "../components/toast";
import { TimeAgo } from "../format/TimeAgo";
import { words } from "../language";
import { addresses } from "../navigation/addresses";
import style from "./Access.module.css";

const t = words.access;

/** The projects of the workspace. */
export function ProjectsTab({ project }: { project: string }) {
  const projects = useProjects();
  const me = useMe(project);
  const [isCreating, setCreating] = useState(false);
  if (projects.isError) return <Failure error={projects.error} retry={() => projects.refetch()} />;
  if (!projects.data) return <Skeleton />;
  const columns: Column<Project>[] = [
    {
      id: "name",
      title: t.projectName,
      cell: ({ slug, name }) => (
        <>
          <Link href={addresses.project(slug)}>
            <bdi>{name}</bdi>
          </Link>{" "}
          {slug === project && <Tag>{t.thisProject}</Tag>}
        </>
      ),
    },
    { id: "slug", title: t.slug, cell: ({ slug }) => <code>{slug}</code> },
    { id: "zone", title: t.timeZone, cell: ({ time_zone }) => time_zone ?? t.utc },
    { id: "created", title: t.created, cell: ({ created_at }) => <TimeAgo at={created_at} /> },
  ];
  // A key that is limited to projects creates none.
  const mayCreate = me.data?.projects === null;
  return (
    <div className={style.stack}>
      {mayCreate && (
        <div className={style.bar}>
          <span className={style.end}>
            <Button kind="main" icon={Plus} onPress={() => setCreating(true)}>
              {t.newProject}
            </Button>
          </span>
        </div>
      )}
      <DataTable label={t.projects} columns={columns} rows={projects.data} rowKey={({ id }) => id} />
      {isCreating && <NewProject onClose={() => setCreating(false)} />}
    </div>
  );
}

function NewProject({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState({
    slug: "",
    name: "",
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  });
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const refusal = error instanceof RequestError ? error : null;
  const create = async () => {
    setRunning(true);
    try {
      const { slug, name } = await answer(
        POST("/v1/projects", {
          body: {
            slug: draft.slug.trim(),
            ...(draft.name.trim() !== "" && { name: draft.name.trim() }),
            ...(draft.zone.trim() !== "" && { time_zone: draft.zone.trim() }),
          },
        }),
      );
      await queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === "projects" });
      sayDone(t.projectCreated(name));
      navigate(addresses.project(slug));
    } catch (error) {
      setError(error);
      setRunning(false);
    }
  };
  return (
    <Dialog
      title={t.newProject}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{words.components.cancel}</Button>
          <Button kind="main" onPress={create} isDisabled={isRunning || draft.slug.trim() === ""}>
            {t.createProject}
          </Button>
        </>
      }
    >
      <TextField
        label={t.projectName}
        value={draft.name}
        onChange={(name) => setDraft({ ...draft, name })}
        error={refusal?.at("/name")}
        autoFocus
      />
      <TextField
        label={t.slug}
        hint={t.slugHint}
        value={draft.slug}
        onChange={(slug) => setDraft({ ...draft, slug })}
        error={refusal?.at("/slug")}
        isCode
      />
      <TextField
        label={t.timeZone}
        hint={t.timeZoneHint}
        value={draft.zone}
        onChange={(zone) => setDraft({ ...draft, zone })}
        error={refusal?.at("/time_zone")}
      />
      {error !== undefined && <Failure error={error} />}
    </Dialog>
  );
}
