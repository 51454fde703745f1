import { Wand2 } from "lucide-react";
import { useMemo, useState } from "react";
import { bodyOf, inProject, PATCH } from "../api/client";
import { RequestError } from "../api/problem";
import { type Template, useTemplate } from "../api/queries";
import { Button } from "../components/Button";
import { TextField } from "../components/Field";
import { Notice, OtherFailure, Skeleton } from "../components/Notice";
import { showToast } from "../components/toast";
import { pageMessages } from "../language/pages";
import { type Draft, draftOf, type Endpoint, isSame, membersOf } from "./draft";
import style from "./Mapping.module.css";
import { MappingLines } from "./MappingLines";
import { PathField } from "./PathField";
import { readAgain } from "./queries";
import { SampleField } from "./SampleField";
import { firstItem, itemsOf, matchColumns, pathsOf } from "./sample";
import { readSample, rejectedItems, type Trial, useTrial } from "./trial";
import { keep, useUnsaved } from "./unsaved";

const t = pageMessages.inbound;

type Props = { project: string; endpoint: Endpoint };

/** Edits the mapping of an endpoint, and checks it against a sample. */
export function MappingTab({ project, endpoint }: Props) {
  const template = useTemplate(project, endpoint.template);
  if (template === undefined) return <Skeleton lines={6} />;
  return <Mapping project={project} endpoint={endpoint} template={template} />;
}

function Mapping({ project, endpoint, template }: Props & { template: Template }) {
  const saved = useMemo(() => draftOf(endpoint), [endpoint]);
  const { sample, draft: unsaved } = useUnsaved(endpoint.id);
  const draft = unsaved ?? saved;
  const [item, setItem] = useState(0);
  const [failure, setFailure] = useState<unknown>();
  const { payload } = useMemo(() => readSample(sample), [sample]);
  const trial = useTrial(project, endpoint.id, draft, sample);
  const result = payload === undefined ? undefined : trial.result;
  const paths = useMemo(() => {
    const first = payload === undefined ? undefined : firstItem(payload, draft.items);
    return first === undefined ? [] : pathsOf(first);
  }, [payload, draft.items]);
  const rejection = [failure, trial.error].find((it) => it instanceof RequestError) ?? null;
  const change = (next: Draft | null) => {
    keep(endpoint.id, { draft: next });
    setFailure(undefined);
  };
  const save = async () => {
    try {
      const { mapping, items, external_key, key_prefix } = membersOf(draft);
      await bodyOf(
        PATCH("/v1/inbound-endpoints/{endpoint}", {
          params: { path: { endpoint: endpoint.id }, header: inProject(project) },
          body: { mapping, items, external_key, key_prefix },
        }),
      );
      await readAgain();
      change(null);
      showToast(t.saved);
    } catch (error) {
      setFailure(error);
    }
  };
  const propose = () => {
    if (payload === undefined) return;
    const { mapping, ...rest } = matchColumns(payload, template.attributes);
    const sources = Object.entries(mapping).map(([slug, path]) => [slug, { path, key_prefix: "" }]);
    change({ ...draft, ...rest, mapping: { ...Object.fromEntries(sources), ...draft.mapping } });
  };
  const isChanged = !isSame(draft, saved);
  const shownItem = Math.min(item, Math.max(0, (result?.items.length ?? 1) - 1));
  return (
    <div className={style.fields}>
      <div className={style.top}>
        <div className={style.fields}>
          <PathField
            label={t.items}
            hint={t.itemsHint}
            value={draft.items}
            onChange={(items) => change({ ...draft, items })}
            paths={
              payload === undefined
                ? []
                : itemsOf(payload).map(({ path, items }) => ({ path, example: t.itemCount(items.length) }))
            }
            placeholder="$"
            error={
              rejection?.at("/items") ?? result?.error?.errors?.find((it) => it.pointer === "/items")?.detail
            }
          />
          <TextField
            label={t.keyPrefix}
            hint={t.keyPrefixHint}
            value={draft.key_prefix}
            onChange={(key_prefix) => change({ ...draft, key_prefix })}
            isCode
            error={rejection?.at("/key_prefix")}
          />
        </div>
        <SampleField
          value={sample}
          onChange={(text) => keep(endpoint.id, { sample: text })}
          hint={t.sampleHint}
          rows={9}
          actions={
            <Button icon={Wand2} onPress={propose}>
              {t.propose}
            </Button>
          }
        />
      </div>
      {result && <TrialResult trial={result} />}
      <OtherFailure
        error={failure ?? trial.error}
        fields={["/items", "/key_prefix", "/external_key", "/mapping/"]}
      />
      <MappingLines
        attributes={template.attributes}
        draft={draft}
        onChange={change}
        paths={paths}
        trial={result}
        isOld={trial.isOld}
        item={shownItem}
        onItem={setItem}
        rejection={rejection}
      />
      <div className={style.foot}>
        <span>{isChanged ? t.unsaved : payload === undefined && sample === "" ? t.noSampleYet : ""}</span>
        {isChanged && <Button onPress={() => change(null)}>{t.undo}</Button>}
        <Button kind="main" onPress={save} isDisabled={!isChanged}>
          {t.save}
        </Button>
      </div>
    </div>
  );
}

/** The result of delivering the sample, in a sentence. */
function TrialResult({ trial }: { trial: Trial }) {
  if (trial.error === null) return <Notice kind="done">{t.would(trial.created, trial.updated)}</Notice>;
  const values = trial.error.errors?.filter(({ pointer }) => pointer !== "/items").length ?? 0;
  if (rejectedItems(trial.error).length === 0) {
    return <Notice kind="rejection">{trial.error.detail}</Notice>;
  }
  return <Notice kind="rejection">{values === 1 ? t.wouldRejectOne : t.wouldReject(values)}</Notice>;
}
