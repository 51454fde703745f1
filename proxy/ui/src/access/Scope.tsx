import { Chip } from "../filter/Chip";
import { conditionsOfScope } from "../filter/condition";
import { useSentences } from "../filter/useContext";
import { pageMessages } from "../language/pages";
import style from "./Access.module.css";

const t = pageMessages.access;

/** The scope of a grant, as sentences. */
export function Scope({
  project,
  template,
  scope,
}: {
  project: string;
  template: string | null;
  scope: unknown;
}) {
  const conditions = conditionsOfScope(scope);
  const context = useSentences(project, template, conditions);
  if (conditions.length === 0) return t.allRecords;
  return (
    <div className={style.sentences}>
      {conditions.map((condition, index) => (
        <div key={index}>
          <Chip condition={condition} context={context} />
        </div>
      ))}
    </div>
  );
}
