import { type KeyboardEvent, type PointerEvent, useId, useState } from "react";
import { exact } from "../api/json";
import { datetimeText } from "../format/date";
import { type Format, formatOfAll, numberText } from "../format/number";
import { messages } from "../language";
import style from "./Chart.module.css";
import { dots, draw, line, nearest, type Point } from "./chart";

const t = messages.record;
const WIDTH = 600;
const HEIGHT = 160;
const MAX_DOTS = 80;

type Props = { label: string; points: readonly Point[]; format: Format | undefined };

/** A line chart of a series. The arrow keys move from point to point, and screen readers announce each. */
export function Chart({ label, points, format: own }: Props) {
  const fill = useId();
  const [index, setIndex] = useState<number | null>(null);
  const { plotted, ticks, low, high } = draw(points);
  const format = formatOfAll(own, [...points.map(({ value }) => value), ...ticks]);
  const tickText = (tick: number): string => numberText(exact(String(tick)), format);
  const last = plotted.length - 1;
  const current = index === null ? undefined : plotted[Math.min(index, last)];
  const description = current
    ? `${numberText(current.point.value ?? 0, format)}, ${datetimeText(current.point.at)}`
    : t.chart(label, t.points(plotted.length), tickText(low), tickText(high));
  const press = (event: KeyboardEvent) => {
    const from = index ?? last;
    const next = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setIndex(Math.max(0, Math.min(last, next)));
  };
  const point = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    setIndex(nearest(plotted, (event.clientX - box.left) / box.width));
  };
  const path = line(plotted, WIDTH, HEIGHT);
  return (
    <figure className={style.chart}>
      <div className={style.scale} aria-hidden>
        {ticks.map((tick) => (
          <span key={tick} style={{ bottom: `${((tick - low) / (high - low || 1)) * 100}%` }}>
            {tickText(tick)}
          </span>
        ))}
      </div>
      <div
        className={style.plot}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={index ?? last}
        aria-valuetext={description}
        onKeyDown={press}
        onPointerMove={point}
        onPointerLeave={() => setIndex(null)}
        onBlur={() => setIndex(null)}
      >
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
          <defs>
            <linearGradient id={fill} x1="0" y1="0" x2="0" y2="1">
              <stop offset="0" className={style.shadeTop} />
              <stop offset="1" className={style.shadeBottom} />
            </linearGradient>
          </defs>
          {ticks.map((tick) => {
            const y = (1 - (tick - low) / (high - low || 1)) * HEIGHT;
            return <path key={tick} className={style.grid} d={`M0 ${y}H${WIDTH}`} />;
          })}
          {last > 0 && <path fill={`url(#${fill})`} d={`${path}V${HEIGHT}H0Z`} />}
          <path className={style.line} d={path} />
          {plotted.length <= MAX_DOTS && <path className={style.dots} d={dots(plotted, WIDTH, HEIGHT)} />}
          {current && (
            <>
              <path className={style.cursor} d={`M${current.x * WIDTH} 0V${HEIGHT}`} />
              <path className={style.spot} d={dots([current], WIDTH, HEIGHT)} />
            </>
          )}
        </svg>
        {current && (
          <span
            className={style.readout}
            data-side={current.x > 0.5 ? "left" : "right"}
            style={{ left: `${current.x * 100}%` }}
          >
            <strong>{numberText(current.point.value ?? 0, format)}</strong>
            <span>{datetimeText(current.point.at)}</span>
          </span>
        )}
      </div>
      <div className={style.times} aria-hidden>
        <span>{datetimeText(plotted[0]?.point.at ?? "")}</span>
        {last > 0 && <span>{datetimeText(plotted[last]?.point.at ?? "")}</span>}
      </div>
    </figure>
  );
}
