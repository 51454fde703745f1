import { ChevronsUpDown } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { Button, Dialog, DialogTrigger, Popover } from "react-aria-components";
import { useLocation } from "wouter";
import { useProjects } from "../api/queries";
import { Menu } from "../components/Menu";
import select from "../components/Select.module.css";
import { messages } from "../language";
import { addresses } from "../navigation/addresses";
import style from "./ProjectSwitch.module.css";

const ProjectList = lazy(() => import("./ProjectList"));

const t = messages.frame;
/** Up to this number of projects, the menu has no search field. */
const MAX_IN_MENU = 8;

/** The open project and a menu of the others, with a search field if there are many. */
export function ProjectSwitch({ project }: { project: string }) {
  const projects = useProjects();
  const [, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const all = projects.data ?? [{ slug: project, name: project }];
  const name = all.find(({ slug }) => slug === project)?.name ?? project;
  const choose = (slug: string) => {
    setOpen(false);
    if (slug !== project) navigate(addresses.project(slug));
  };
  const button = (
    <Button className={style.button ?? ""} aria-label={t.projectIs(name)}>
      <span className={style.value} dir="auto">
        {name}
      </span>
      <ChevronsUpDown size={14} aria-hidden />
    </Button>
  );
  if (all.length <= MAX_IN_MENU) {
    const options = all.map((it) => ({ id: it.slug, label: it.name }));
    return (
      <Menu
        label={t.project}
        placement="bottom start"
        actions={[
          { id: "project", title: t.project, options, value: project, closes: true, onChange: choose },
        ]}
      >
        {button}
      </Menu>
    );
  }
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      {button}
      <Popover className={`${select.popover} ${style.popover}`} placement="bottom start">
        <Dialog aria-label={t.project} className={style.dialog ?? ""}>
          <Suspense fallback={null}>
            <ProjectList projects={all} selected={project} onChoose={choose} />
          </Suspense>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
