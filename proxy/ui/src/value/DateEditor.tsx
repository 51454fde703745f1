import {
  type CalendarDate,
  type DateValue,
  getLocalTimeZone,
  now,
  parseAbsolute,
  parseDate,
  toZoned,
  type ZonedDateTime,
} from "@internationalized/date";
import { CalendarDays, ChevronLeft, ChevronRight, X } from "lucide-react";
import {
  Button as AriaButton,
  Calendar,
  CalendarCell,
  CalendarGrid,
  DateInput,
  DatePicker,
  DateSegment,
  Dialog,
  Group,
  Heading,
  Label,
  Popover,
} from "react-aria-components";
import { Rejection, TextField } from "../components/Field";
import { RequiredMark } from "../components/Required";
import { messages } from "../language";
import type { PartProps } from "./editing";
import style from "./editor.module.css";
import { textOf, withFinerDigits } from "./exact";

const t = messages.value;

/** The date or time of a value in the user's time zone; undefined if a calendar cannot represent it. */
function read(text: string, isTime: boolean): CalendarDate | ZonedDateTime | null | undefined {
  if (text === "") return null;
  try {
    return isTime ? parseAbsolute(text, getLocalTimeZone()) : parseDate(text);
  } catch {
    return undefined;
  }
}

/** Edits a date, or a time in the user's time zone. */
export default function DateEditor(props: PartProps) {
  const { attribute, value, onChange, label, isLabelHidden, error, autoFocus, isRequired = false } = props;
  const isTime = attribute.type === "datetime";
  const text = textOf(value);
  const shown = read(text, isTime);
  if (shown === undefined) {
    const { attribute: _, project: __, ...rest } = props;
    return <TextField {...rest} value={text} onChange={(typed) => onChange(typed === "" ? null : typed)} />;
  }
  const change = (next: DateValue | null) => {
    if (next === null) return onChange(null);
    if (!isTime) return onChange(next.toString());
    const zoned = "timeZone" in next ? next : toZoned(next, getLocalTimeZone());
    onChange(withFinerDigits(zoned.toAbsoluteString(), text));
  };
  return (
    <DatePicker<DateValue>
      className={style.field ?? ""}
      value={shown}
      onChange={change}
      granularity={isTime ? "second" : "day"}
      placeholderValue={isTime ? now(getLocalTimeZone()).set({ second: 0, millisecond: 0 }) : undefined}
      shouldForceLeadingZeros
      isInvalid={error !== undefined}
      isRequired={isRequired}
      validationBehavior="aria"
      autoFocus={autoFocus ?? false}
      {...(isLabelHidden ? { "aria-label": label } : {})}
    >
      {!isLabelHidden && (
        <Label className={style.label}>
          {label}
          {isRequired && <RequiredMark />}
        </Label>
      )}
      <Group className={`${style.box} ${style.oneLine} ${error ? style.rejected : ""}`}>
        <DateInput className={style.date ?? ""}>
          {(segment) => <DateSegment segment={segment} className={style.part ?? ""} />}
        </DateInput>
        {shown !== null && (
          <AriaButton
            slot={null}
            className={style.remove ?? ""}
            aria-label={t.clear}
            onPress={() => onChange(null)}
          >
            <X size={14} aria-hidden />
          </AriaButton>
        )}
        <AriaButton className={style.remove ?? ""} aria-label={t.openCalendar}>
          <CalendarDays size={14} aria-hidden />
        </AriaButton>
      </Group>
      {error && <Rejection>{error}</Rejection>}
      <Popover className={style.popover ?? ""}>
        <Dialog className={style.calendar ?? ""} aria-label={label}>
          <Calendar>
            <header className={style.month}>
              <AriaButton slot="previous" className={style.remove ?? ""}>
                <ChevronLeft size={16} aria-hidden />
              </AriaButton>
              <Heading className={style.monthName} />
              <AriaButton slot="next" className={style.remove ?? ""}>
                <ChevronRight size={16} aria-hidden />
              </AriaButton>
            </header>
            <CalendarGrid>{(day) => <CalendarCell date={day} className={style.day ?? ""} />}</CalendarGrid>
          </Calendar>
        </Dialog>
      </Popover>
    </DatePicker>
  );
}
