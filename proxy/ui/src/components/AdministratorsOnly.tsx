import { Lock } from "lucide-react";
import type { ReactNode } from "react";
import { useMe } from "../api/queries";
import { messages } from "../language";
import { Empty } from "./Empty";
import { Failure, Skeleton } from "./Notice";
import { Page } from "./Page";

const t = messages.components;

type Props = {
  project: string;
  /** The title of the page, if the children are pages themselves. */
  title?: string;
  /** Whether callers with `define` also have access. */
  alsoDefiners?: boolean;
  children: ReactNode;
};

/** A page for administrators. Other users are told to ask an administrator. */
export function AdministratorsOnly({ project, title, alsoDefiners = false, children }: Props) {
  const me = useMe(project);
  const maySee =
    me.data?.admin ||
    (alsoDefiners && me.data?.templates.some(({ privileges }) => privileges.includes("define")));
  if (maySee) return children;
  const instead = (
    <>
      {me.isError && <Failure error={me.error} retry={() => me.refetch()} />}
      {me.isPending && <Skeleton lines={6} />}
      {me.data && (
        <Empty icon={Lock} title={t.administratorsOnly}>
          {t.administratorsOnlyHint(me.data.role)}
        </Empty>
      )}
    </>
  );
  return title === undefined ? instead : <Page title={title}>{instead}</Page>;
}
