import { Meter as AriaMeter, ProgressBar as AriaProgressBar, Label } from "react-aria-components";
import style from "./Progress.module.css";

type Props = {
  label: string;
  /** From 0 to 1; null while it is unknown. */
  value: number | null;
  /** Text next to the label, such as "300 of 1,200". */
  text?: string;
};

/** The progress of a task. */
export function Progress({ label, value, text }: Props) {
  return (
    <AriaProgressBar
      className={style.frame ?? ""}
      isIndeterminate={value === null}
      value={(value ?? 0) * 100}
      {...(text === undefined ? {} : { valueLabel: text })}
    >
      {({ valueText }) => (
        <>
          <div className={style.words}>
            <Label>{label}</Label>
            <span>{text ?? valueText}</span>
          </div>
          <div className={style.track}>
            <div
              className={`${style.fill} ${value === null ? style.unknown : ""}`}
              style={{ width: `${value === null ? 30 : value * 100}%` }}
            />
          </div>
        </>
      )}
    </AriaProgressBar>
  );
}

/** A usage bar. It turns amber at 80 % and red at 100 %. */
export function Gauge({ label, value, text }: Props & { value: number; text: string }) {
  const level = value >= 1 ? style.full : value >= 0.8 ? style.high : "";
  return (
    <AriaMeter className={style.frame ?? ""} value={Math.min(value, 1) * 100} valueLabel={text}>
      <div className={style.words}>
        <Label>{label}</Label>
        <span>{text}</span>
      </div>
      <div className={style.track}>
        <div className={`${style.fill} ${level}`} style={{ width: `${Math.min(value, 1) * 100}%` }} />
      </div>
    </AriaMeter>
  );
}
