import { AgentError } from '@cobbler/agent';

/** Reads a URL as it is shown and sent: without a fragment, with the host in ASCII, without dots at its end. @throws AgentError `tool`. */
export function readUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base);
  if (url === null) throw notFetched(`${JSON.stringify(text)} is not a URL.`);
  url.hash = '';
  url.hostname = url.hostname.replace(/\.+$/, '');
  return url;
}

/** Returns an error that tells the model why a page is not fetched. */
export function notFetched(message: string): AgentError {
  return new AgentError({ kind: 'tool', code: 'not_fetched', message });
}
