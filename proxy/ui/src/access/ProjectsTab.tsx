import { Plus } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { type Project, useMe, useProjects } from "../api/queries";
import { Button } from "../components/Button";
import { type Column, DataTable } from "../components/DataTable";
import { Failure, Skeleton } from "../components/Notice";
import { Tag } from "../components/Tag";
import { TimeAgo } from "../format/TimeAgo";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import style from "./Access.module.css";
import NewProject from "./NewProject";

const t = pageMessages.access;

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
  // A key that is limited to projects cannot create one.
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
