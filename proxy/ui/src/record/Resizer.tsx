import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { messages } from "../language";
import style from "./RecordDrawer.module.css";

const STORAGE_KEY = "keyed.record.width";
const FIRST = 480;
const MIN_WIDTH = 360;
const MAX_WIDTH = 960;
const STEP = 24;

const within = (width: number) => Math.round(Math.max(MIN_WIDTH, Math.min(MAX_WIDTH, width)));

/** The width of a record beside its list, remembered by this browser. */
export function useDrawerWidth(): [number, (width: number) => void] {
  const [width, setWidth] = useState(() => within(Number(localStorage.getItem(STORAGE_KEY)) || FIRST));
  const resize = (pixels: number) => {
    localStorage.setItem(STORAGE_KEY, String(within(pixels)));
    setWidth(within(pixels));
  };
  return [width, resize];
}

/** The edge of the record, dragged with the pointer or moved by the arrow keys. */
export function Resizer({ width, onResize }: { width: number; onResize: (width: number) => void }) {
  const [grip, setGrip] = useState<{ x: number; width: number } | null>(null);
  const press = (event: KeyboardEvent) => {
    const next = { ArrowLeft: width + STEP, ArrowRight: width - STEP, Home: MIN_WIDTH, End: MAX_WIDTH }[
      event.key
    ];
    if (next === undefined) return;
    event.preventDefault();
    onResize(next);
  };
  const grab = (event: PointerEvent<HTMLElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    setGrip({ x: event.clientX, width });
  };
  return (
    <div
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={messages.record.width}
      aria-valuenow={width}
      aria-valuemin={MIN_WIDTH}
      aria-valuemax={MAX_WIDTH}
      className={style.resizer}
      onKeyDown={press}
      onPointerDown={grab}
      onPointerMove={(event) => grip && onResize(grip.width + grip.x - event.clientX)}
      onPointerUp={() => setGrip(null)}
      onPointerCancel={() => setGrip(null)}
      onDoubleClick={() => onResize(FIRST)}
    />
  );
}
