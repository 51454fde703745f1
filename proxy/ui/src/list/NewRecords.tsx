import { Button } from "../components/Button";
import { messages } from "../language";
import style from "./ListPage.module.css";

const t = messages.list;

type Props = {
  count: number;
  /** The count stops at this number. */
  isFull: boolean;
  onShow: () => void;
};

/** The number of records that other users created. Always present, or else screen readers would not announce it. */
export function NewRecords({ count, isFull, onShow }: Props) {
  return (
    <span className={style.fresh} role="status">
      {count > 0 && <Button onPress={onShow}>{t.fresh(count, isFull)}</Button>}
    </span>
  );
}
