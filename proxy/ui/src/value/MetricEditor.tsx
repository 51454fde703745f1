import { useState } from "react";
import { isLosslessNumber, type Json } from "../api/json";
import { Checkbox } from "../components/Checkbox";
import { messages } from "../language";
import DateEditor from "./DateEditor";
import type { PartProps } from "./editing";
import style from "./editor.module.css";
import { NumberEditor } from "./NumberEditor";

const t = messages.value;

type Point = { value: Json | undefined; at: Json | undefined };

function pointOf(value: Json | undefined): Point {
  const isPoint =
    typeof value === "object" && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
  return isPoint ? { value: value.value, at: value.at } : { value, at: undefined };
}

/** A new point of a series: measured now, or at a given time. */
export default function MetricEditor({ value, onChange, ...props }: PartProps) {
  const point = pointOf(value);
  const [isTimed, setTimed] = useState(point.at !== undefined);
  const change = (next: Partial<Point>) => {
    const { value: number, at } = { ...point, ...next };
    onChange(number == null || at == null ? number : { value: number, at });
  };
  return (
    <div className={style.field}>
      <NumberEditor {...props} value={point.value} onChange={(number) => change({ value: number })} />
      <Checkbox
        isSelected={isTimed}
        onChange={(on) => {
          setTimed(on);
          change({ at: on ? new Date().toISOString() : undefined });
        }}
      >
        {t.atAnotherTime}
      </Checkbox>
      {isTimed && (
        <DateEditor
          project={props.project}
          attribute={{ ...props.attribute, type: "datetime" }}
          label={t.measuredAt}
          value={point.at ?? null}
          onChange={(at) => change({ at })}
        />
      )}
    </div>
  );
}
