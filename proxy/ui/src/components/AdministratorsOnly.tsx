import type { ReactNode } from "react";
import { useMe } from "../api/queries";
import { words } from "../language";
import { Empty, Failure, Skeleton } from "./Notice";

const t = words.components;

type Props = {
  project: string;
  /** Whether callers who may define templates are let in, too. */
  alsoDefiners?: boolean;
  children: ReactNode;
};

/** A place of administrators. Others who come by its address read who can help them. */
export function AdministratorsOnly({ project, alsoDefiners = false, children }: Props) {
  const me = useMe(project);
  if (me.isError) return <Failure error={me.error} retry={() => me.refetch()} />;
  if (!me.data) return <Skeleton lines={6} />;
  const maySee =
    me.data.admin ||
    (alsoDefiners && me.data.templates.some((template) => template.privileges.includes("define")));
  if (maySee) return children;
  return <Empty title={t.administratorsOnly}>{t.administratorsOnlyHint(me.data.role)}</Empty>;
}
