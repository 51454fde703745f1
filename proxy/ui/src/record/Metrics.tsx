import { ChartLine, Plus, Table2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useAttempt } from "../api/attempt";
import type { Json } from "../api/json";
import type { Attribute, RecordBody, Template } from "../api/queries";
import { Button, IconButton } from "../components/Button";
import { DataTable } from "../components/DataTable";
import { Dialog } from "../components/Dialog";
import { Empty } from "../components/Empty";
import { Failure, Skeleton } from "../components/Notice";
import { Select } from "../components/Select";
import { showToast } from "../components/toast";
import { datetimeText } from "../format/date";
import { attributeLabel } from "../format/label";
import { type Format, formatOfAll, numberText } from "../format/number";
import { messages } from "../language";
import { Value } from "../value/Value";
import { ValueEditor } from "../value/ValueEditor";
import { Chart } from "./Chart";
import type { Point } from "./chart";
import { errorOf } from "./errors";
import style from "./Metrics.module.css";
import { fieldOf } from "./merge";
import { PointActions } from "./PointActions";
import { AGGREGATES, type Aggregate, RANGES, type Range, type Series, useSeries } from "./series";
import { addTo } from "./store";

const t = messages.record;

type Props = { project: string; template: Template; record: RecordBody; mayEdit: boolean };

/** The metrics of a record, each as a chart over time. */
export function Metrics({ project, template, record, mayEdit }: Props) {
  const [range, setRange] = useState<Range>("month");
  const [aggregate, setAggregate] = useState<Aggregate | "every">("every");
  const metrics = template.attributes.filter(({ type }) => type === "metric");
  if (metrics.length === 0)
    return (
      <Empty icon={ChartLine} title={t.noMetrics}>
        {t.noMetricsHint}
      </Empty>
    );
  return (
    <div className={style.metrics}>
      <div className={style.tools}>
        <div className={style.ranges} role="group" aria-label={t.range}>
          {RANGES.map((it) => (
            <button
              key={it}
              type="button"
              className={style.range}
              aria-pressed={it === range}
              onClick={() => setRange(it)}
            >
              {t.ranges[it]}
            </button>
          ))}
        </div>
        <Select
          label={t.aggregate}
          isLabelHidden
          value={aggregate}
          onChange={setAggregate}
          choices={[
            { id: "every", label: t.everyValue },
            ...AGGREGATES.map((id) => ({ id, label: t.aggregates[id] })),
          ]}
        />
      </div>
      {metrics.map((attribute) => (
        <Metric
          key={attribute.slug}
          project={project}
          record={record}
          attribute={attribute}
          mayEdit={mayEdit}
          range={range}
          aggregate={aggregate === "every" ? null : aggregate}
        />
      ))}
    </div>
  );
}

type MetricProps = {
  project: string;
  record: RecordBody;
  attribute: Attribute;
  mayEdit: boolean;
  range: Range;
  aggregate: Aggregate | null;
};

function Metric({ project, record, attribute, mayEdit, range, aggregate }: MetricProps) {
  const series = useSeries(record.id, attribute.slug, range, aggregate);
  const [isTable, setTable] = useState(false);
  const [isAdding, setAdding] = useState(false);
  const label = attributeLabel(attribute);
  const verbose = record.attribute_values?.[attribute.slug];
  return (
    <section className={style.metric} aria-label={label}>
      <header className={style.head}>
        <h3 dir="auto">{label}</h3>
        <span className={style.latest}>
          {t.latest}{" "}
          <Value
            project={project}
            attribute={attribute}
            value={fieldOf(record, attribute.slug)}
            verbose={verbose}
          />
        </span>
        <IconButton
          icon={isTable ? ChartLine : Table2}
          label={isTable ? t.asChart : t.asTable}
          onPress={() => setTable(!isTable)}
        />
        {mayEdit && (
          <Button icon={Plus} onPress={() => setAdding(true)}>
            {t.addPoint}
          </Button>
        )}
      </header>
      {series.isError ? (
        <Failure error={series.error} retry={() => series.refetch()} />
      ) : !series.data ? (
        <Skeleton lines={4} />
      ) : (
        <Shown
          label={label}
          format={attribute.format}
          series={series.data}
          aggregate={aggregate}
          isTable={isTable}
          actions={
            mayEdit
              ? (point) => (
                  <PointActions project={project} record={record} attribute={attribute} point={point} />
                )
              : null
          }
        />
      )}
      {isAdding && (
        <AddPoint project={project} record={record} attribute={attribute} onClose={() => setAdding(false)} />
      )}
    </section>
  );
}

type ShownProps = {
  label: string;
  format: Format | undefined;
  series: Series;
  aggregate: Aggregate | null;
  isTable: boolean;
  actions: ((point: Point) => ReactNode) | null;
};

function Shown({ label, format, series, aggregate, isTable, actions }: ShownProps) {
  const { points, bucket } = series;
  const ofAll = formatOfAll(
    format,
    points.map(({ value }) => value),
  );
  if (points.length === 0) {
    return (
      <Empty icon={ChartLine} title={t.noPoints} isPart>
        {t.noPointsHint}
      </Empty>
    );
  }
  return (
    <>
      {isTable ? (
        <div className={style.table}>
          <DataTable
            label={label}
            columns={[
              { id: "at", title: t.time, cell: ({ at }) => <time title={at}>{datetimeText(at)}</time> },
              {
                id: "value",
                title: t.value,
                isNumber: true,
                cell: ({ value }) => (value === null ? "" : numberText(value, ofAll)),
              },
              // An aggregated point cannot be corrected.
              ...(actions !== null && bucket === null
                ? [{ id: "actions", title: t.pointActions, isTitleHidden: true, cell: actions }]
                : []),
            ]}
            rows={points.map((point, index) => ({ ...point, index })).reverse()}
            rowKey={({ index }) => index}
          />
        </div>
      ) : (
        <Chart label={label} points={points} format={format} />
      )}
      <p className={style.note}>
        {bucket === null
          ? t.everyPoint(points.length)
          : t.perBucket(t.aggregates[aggregate ?? "avg"], t.buckets[bucket] ?? bucket)}
      </p>
    </>
  );
}

type AddProps = { project: string; record: RecordBody; attribute: Attribute; onClose: () => void };

/** A new point: measured now, or at another time. */
function AddPoint({ project, record, attribute, onClose }: AddProps) {
  const [value, setValue] = useState<Json | undefined>(undefined);
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const attempt = useAttempt();
  const cannotBeAdded = value == null || typeof value === "string";
  const add = async () => {
    if (isBusy || cannotBeAdded) return;
    setBusy(true);
    try {
      if (!(await addTo(record.id, attribute.slug, value, attempt))) return;
      showToast(t.pointAdded);
      onClose();
    } catch (rejection) {
      setError(errorOf(rejection, attribute.slug));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t.addPoint}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{messages.components.cancel}</Button>
          <Button kind="main" type="submit" form="new-point" isPending={isBusy} isDisabled={cannotBeAdded}>
            {t.addPoint}
          </Button>
        </>
      }
    >
      <form
        id="new-point"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <ValueEditor
          project={project}
          attribute={attribute}
          value={value}
          onChange={(next) => {
            // Edits during the request are ignored, so the form shows the point that was sent.
            if (isBusy) return;
            setValue(next);
            attempt.renew();
            setError(undefined);
          }}
          error={error}
          autoFocus
        />
      </form>
    </Dialog>
  );
}
