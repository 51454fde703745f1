import { Button } from "../components/Button";
import { words } from "../language";
import style from "./ListPage.module.css";

const t = words.list;

type Props = {
  count: number;
  /** More are not counted. */
  isFull: boolean;
  onShow: () => void;
};

/** How many records others created. Its place is always there, or else screen readers would not read it out. */
export function NewRecords({ count, isFull, onShow }: Props) {
  return (
    <span className={style.fresh} role="status">
      {count > 0 && <Button onPress={onShow}>{t.fresh(count, isFull)}</Button>}
    </span>
  );
}
