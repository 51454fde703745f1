import type { ReactNode } from "react";
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from "react-aria-components";
import style from "./Tabs.module.css";

export type TabItem = { id: string; label: string; content: ReactNode };

type Props = { label: string; items: TabItem[]; selected: string; onSelect: (id: string) => void };

/** Tabs, one of which is shown. */
export function Tabs({ label, items, selected, onSelect }: Props) {
  return (
    <AriaTabs
      className={style.tabs ?? ""}
      selectedKey={selected}
      onSelectionChange={(key) => onSelect(String(key))}
    >
      <TabList aria-label={label} className={style.list ?? ""}>
        {items.map((item) => (
          <Tab key={item.id} id={item.id} className={style.tab ?? ""}>
            {item.label}
          </Tab>
        ))}
      </TabList>
      {items.map((item) => (
        <TabPanel key={item.id} id={item.id} className={style.panel ?? ""}>
          {item.content}
        </TabPanel>
      ))}
    </AriaTabs>
  );
}
