import { ArrowDownUp, ArrowDownWideNarrow, ChevronsDown, ChevronsUp } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import type { Template } from "../api/queries";
import { Button } from "../components/Button";
import { type Action, Menu } from "../components/Menu";
import { messages } from "../language";
import { useShortcuts } from "../navigation/shortcuts";
import { allColumns, KEY } from "./columns";
import style from "./ListPage.module.css";
import { reversed, withSort } from "./sort";
import { startFields } from "./start";
import type { ListState } from "./state";
import type { ChangeState } from "./useListState";

const t = messages.list;
const StartDialog = lazy(() => import("./StartDialog"));

type Props = {
  project: string;
  template: Template;
  state: ListState;
  isRanked: boolean;
  change: ChangeState;
};

/** The sort of the list, its start value, and an action that reverses it. */
export function SortMenu({ project, template, state, isRanked, change }: Props) {
  const [isAsking, setAsking] = useState(false);
  const [by] = state.sort;
  const ask = () => setAsking(true);
  const toEnd = () => change(reversed(state), true);
  const canAsk = !isRanked && startFields(template, state.isDeleted).length > 0;
  useShortcuts(
    [
      ...(canAsk ? [{ keys: "g", label: t.startAt, icon: ArrowDownWideNarrow, run: ask }] : []),
      ...(isRanked ? [] : [{ keys: "G", label: t.toEnd, icon: ChevronsDown, run: toEnd }]),
    ],
    "list",
  );
  const sortBy = (field: string, isDescending: boolean) => {
    const [, ...others] = state.sort;
    const kept = field === by?.field ? others : [];
    change(withSort(state, field === "" ? [] : [{ field, isDescending }, ...kept]));
  };
  const fields = [{ id: KEY, label: t.key }, ...allColumns(template)];
  const actions: Action[] = [
    {
      id: "by",
      title: t.sortBy,
      options: [{ id: "", label: state.isDeleted ? t.deletedSort : t.newestFirst }, ...fields],
      value: by?.field ?? "",
      onChange: (field) => sortBy(field, false),
    },
    ...(by === undefined
      ? []
      : [
          {
            id: "order",
            title: t.order,
            options: [
              { id: "ascending", label: t.ascending },
              { id: "descending", label: t.descending },
            ],
            value: by.isDescending ? "descending" : "ascending",
            onChange: (otherSource: string) => sortBy(by.field, otherSource === "descending"),
          },
        ]),
    "separator",
    { id: "start", label: t.startAt, icon: ArrowDownWideNarrow, isDisabled: !canAsk, run: ask },
    ...(state.start === null
      ? []
      : [
          {
            id: "beginning",
            label: t.fromBeginning,
            icon: ChevronsUp,
            run: () => change({ start: null }, true),
          },
        ]),
    { id: "end", label: t.toEnd, icon: ChevronsDown, run: toEnd },
  ];
  return (
    <>
      <Menu label={t.sort} actions={actions}>
        <Button
          kind="quiet"
          icon={ArrowDownUp}
          aria-label={t.sort}
          {...(isRanked ? { isDisabled: true } : {})}
        >
          <span className={style.roomy}>{t.sort}</span>
        </Button>
      </Menu>
      {isAsking && (
        <Suspense>
          <StartDialog
            project={project}
            template={template}
            state={state}
            change={change}
            onClose={() => setAsking(false)}
          />
        </Suspense>
      )}
    </>
  );
}
