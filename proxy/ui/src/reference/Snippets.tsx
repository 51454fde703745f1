import { useState } from "react";
import type { ApiRequest } from "../code/request";
import { KEY_VARIABLE, type Language, snippet } from "../code/snippets";
import { sqlOf } from "../code/sql";
import { Checkbox } from "../components/Checkbox";
import { Code } from "../components/Code";
import { Tabs } from "../components/Tabs";
import { pageMessages } from "../language/pages";
import { useSession } from "../session/session";
import style from "./Snippets.module.css";

const t = pageMessages.reference;
const STORAGE_KEY = "keyed.language";
const LANGUAGES = ["curl", "sql", "python", "javascript"] as const;

function rememberedLanguage(): Language {
  const last = localStorage.getItem(STORAGE_KEY);
  return LANGUAGES.find((it) => it === last) ?? "curl";
}

/** A request as code in the language that the user chose last. It contains the key only on request. */
export function Snippets({ request }: { request: ApiRequest }) {
  const { key } = useSession();
  const [language, setLanguage] = useState(rememberedLanguage);
  const [withKey, setWithKey] = useState(false);
  const choose = (id: string) => {
    localStorage.setItem(STORAGE_KEY, id);
    setLanguage(id as Language);
  };
  const offered = LANGUAGES.filter((it) => it !== "sql" || sqlOf(request) !== null);
  const hasKey = !request.isOpen;
  const items = offered.map((it) => ({
    id: it,
    label: t.languages[it],
    content: (
      <div className={style.snippet}>
        <Code
          text={
            snippet(it, request, {
              base: window.location.origin,
              key: withKey && hasKey ? key : null,
            }) ?? ""
          }
          what={t.codeIn(t.languages[it])}
          isBlock
        />
        {it === "sql" ? (
          <p className={style.note}>{t.sqlNote}</p>
        ) : (
          hasKey && (
            <div className={style.key}>
              <p className={style.note}>
                {withKey && key !== null ? t.keyIsWrittenOut : t.keyFromEnvironment(KEY_VARIABLE)}
              </p>
              {key !== null && (
                <Checkbox isSelected={withKey} onChange={setWithKey}>
                  {t.writeKeyOut}
                </Checkbox>
              )}
            </div>
          )
        )}
      </div>
    ),
  }));
  const selected = offered.includes(language) ? language : "curl";
  return <Tabs label={t.language} items={items} selected={selected} onSelect={choose} />;
}
