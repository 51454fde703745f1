import { useQuery } from "@tanstack/react-query";
import { ArrowLeft, Search } from "lucide-react";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { Input, SearchField } from "react-aria-components";
import { Link } from "wouter";
import { send } from "../api/client";
import { parseJson } from "../api/json";
import { requestError } from "../api/problem";
import { useTemplates } from "../api/queries";
import { Failure, Skeleton } from "../components/Notice";
import { Section } from "../components/Page";
import { messages } from "../language";
import { pageMessages } from "../language/pages";
import { addresses } from "../navigation/addresses";
import { lastVisit } from "../navigation/lastVisit";
import { useShortcuts } from "../navigation/shortcuts";
import { useSession } from "../session/session";
import { type ApiDocument, type Operation, operations } from "./document";
import { OperationView } from "./OperationView";
import { Prose } from "./Prose";
import style from "./ReferencePage.module.css";
import { Snippets } from "./Snippets";

const t = pageMessages.reference;

async function readDocument(signal: AbortSignal): Promise<ApiDocument> {
  const response = await send(new Request("/openapi.json", { signal }));
  const body = parseJson(await response.text());
  if (!response.ok) throw requestError(response.status, body);
  return body as unknown as ApiDocument;
}

function subscribe(listener: () => void) {
  window.addEventListener("hashchange", listener);
  window.addEventListener("popstate", listener);
  return () => {
    window.removeEventListener("hashchange", listener);
    window.removeEventListener("popstate", listener);
  };
}
const useHash = () =>
  useSyncExternalStore(subscribe, () => decodeURIComponent(window.location.hash.slice(1)));

/** The API reference: every operation with its parameters, responses and code, and a form to try it. */
export default function ReferencePage({ project }: { project: string | null }) {
  const document = useQuery({
    queryKey: ["openapi"],
    queryFn: ({ signal }) => readDocument(signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEffect(() => {
    window.document.title = `${t.title} · ${messages.frame.product}`;
  }, []);
  return (
    <div className={style.page}>
      {document.isError && (
        <div className={style.state}>
          <Failure error={document.error} retry={() => document.refetch()} />
        </div>
      )}
      {document.isPending && (
        <div className={style.state}>
          <Skeleton lines={8} />
        </div>
      )}
      {document.data && <Reference document={document.data} project={project} />}
    </div>
  );
}

function Reference({ document, project }: { document: ApiDocument; project: string | null }) {
  const all = useMemo(() => operations(document), [document]);
  const id = useHash();
  const { key } = useSession();
  const chosen = all.find((it) => it.id === id);
  const detail = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (chosen) detail.current?.scrollTo(0, 0);
  }, [chosen]);
  return (
    <>
      <div className={`${style.list} ${chosen ? style.hasChosen : ""}`}>
        {key === null && (
          <div className={style.head}>
            <strong>
              {messages.frame.product} {t.title}
            </strong>
            <Link href={addresses.home()}>{t.signIn}</Link>
          </div>
        )}
        <OperationList operations={all} chosen={chosen?.id} />
      </div>
      <div className={`${style.detail} ${chosen ? style.hasChosen : ""}`} ref={detail} tabIndex={-1}>
        {chosen ? (
          <>
            {/* biome-ignore lint/a11y/useValidAnchor: without a fragment, the address shows all operations. */}
            <a href="#" className={style.back}>
              <ArrowLeft size={14} aria-hidden /> {t.allOperations}
            </a>
            <Chosen document={document} operation={chosen} project={project} />
          </>
        ) : (
          <Introduction document={document} />
        )}
      </div>
    </>
  );
}

type ChosenProps = { document: ApiDocument; operation: Operation; project: string | null };

function Chosen({ document, operation, project }: ChosenProps) {
  const { key } = useSession();
  const templates = useTemplates(project ?? "", project !== null);
  if (key !== null && project !== null && templates.isPending) return <Skeleton lines={8} />;
  const last = templates.data?.find(({ slug }) => slug === lastVisit().template);
  return (
    <OperationView
      key={operation.id}
      document={document}
      operation={operation}
      project={project}
      template={last ?? templates.data?.[0]}
    />
  );
}

function OperationList({ operations, chosen }: { operations: Operation[]; chosen: string | undefined }) {
  const [query, setQuery] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useShortcuts([{ keys: "/", label: t.search, icon: Search, run: () => field.current?.focus() }]);
  const parts = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = operations.filter((it) => {
    const text = `${it.summary} ${it.method} ${it.path} ${it.id} ${it.tag}`.toLowerCase();
    return parts.every((part) => text.includes(part));
  });
  const tags = [...new Set(found.map(({ tag }) => tag))];
  return (
    <nav aria-label={t.operations}>
      <div className={style.search}>
        <SearchField aria-label={t.search} value={query} onChange={setQuery}>
          <Input ref={field} placeholder={t.search} />
        </SearchField>
      </div>
      {found.length === 0 && <p className={style.none}>{t.nothingFound}</p>}
      {tags.map((tag) => (
        <section key={tag} aria-label={tag}>
          <h3>{tag}</h3>
          <ul>
            {found
              .filter((it) => it.tag === tag)
              .map((it) => (
                <li key={it.id}>
                  <a
                    href={`#${encodeURIComponent(it.id)}`}
                    aria-current={it.id === chosen ? "page" : undefined}
                  >
                    <span>{it.summary}</span>
                    <code className={it.method === "DELETE" ? style.danger : ""}>{it.method}</code>
                  </a>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

function Introduction({ document }: { document: ApiDocument }) {
  const { title, version, summary, description } = document.info;
  return (
    <div className={style.introduction}>
      <header>
        <h1>
          {title} {t.title}
        </h1>
        <p className={style.lead}>{t.lead(version)}</p>
      </header>
      {summary && <p>{summary}</p>}
      {description && (
        <p>
          <Prose text={description} />
        </p>
      )}
      <p className={style.links}>
        <a href="/openapi.json">{t.openDocument}</a>
      </p>
      <Section title={t.firstRequest} lead={t.firstRequestLead}>
        <Snippets request={{ method: "GET", path: "/v1/me" }} />
      </Section>
    </div>
  );
}
