import { lookup } from 'node:dns/promises';
import type { ToolOutput, ToolResultPart } from '@cobbler/agent';
import { toolOutput } from '@cobbler/agent';
import { allowsUrl, isPublicAddress } from '@cobbler/agent/sandbox';
import { readContent } from './page-content.ts';
import { notFetched, readUrl } from './url.ts';
import type { WebFetchArgs, WebFetchOptions } from './web-fetch-options.ts';
import { maxCharacters } from './web-fetch-options.ts';
import type { WebAccess } from './web-request.ts';
import { nodeRequest, openUrl } from './web-request.ts';

/** Fetches a page and returns a part of its text. @throws AgentError `tool`. */
export async function fetchPage(
  { url: given, offset = 0 }: WebFetchArgs,
  { allowHosts = [], mayFollow, ...effects }: WebFetchOptions,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const access: WebAccess = {
    ...{ resolve: addressesOf, isPublic: isPublicAddress, request: nodeRequest, ...effects },
    allowHosts,
    mayFollow: (url, isSame) =>
      mayFollow?.(url.href, isSame) ?? (isSame || allowHosts.some((one) => allowsUrl(one, url.href))),
  };
  const answer = await openUrl(readUrl(given), access, signal);
  if ('redirect' in answer) {
    const { url, redirect } = answer;
    const content = `${url.href} redirects to another host: ${redirect.href}\nTo read it, call web_fetch with that URL.`;
    return toolOutput({ content, summary: `redirect to ${redirect.host}` });
  }
  const { url, response } = answer;
  const { mediaType, content, isWhole } = await readContent(url, response, signal);
  const isError = response.status >= 400;
  const head = `[${url.href}: status ${response.status}, ${mediaType}]\n`;
  const part: ToolResultPart[] = typeof content === 'string' ? [] : [content];
  const text = typeof content === 'string' ? head + windowOf(content, offset, isWhole) : head;
  return toolOutput({
    content: [{ type: 'text', text }, ...part],
    summary: isError ? `status ${response.status}` : mediaType,
    ...(isError && { isError }),
  });
}

async function addressesOf(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Returns the characters from an offset on, with a note if there are others. */
function windowOf(text: string, offset: number, isWhole: boolean): string {
  if (offset > 0 && offset >= text.length)
    throw notFetched(`The text has only ${text.length} characters, so there is nothing at offset ${offset}.`);
  const cut = offset + maxCharacters;
  // Never between the halves of a surrogate pair.
  const end = /[\ud800-\udbff]/.test(text[cut - 1] ?? '') ? cut - 1 : cut;
  const shown = text.slice(offset, end);
  const more = end < text.length ? `; to read on, use offset ${end}` : '';
  const rest = isWhole ? '' : '; the page is longer than what was read';
  if (offset === 0 && more === '' && isWhole) return shown || '(no text)';
  return `${shown}\n[characters ${offset} to ${offset + shown.length} of ${text.length}${more}${rest}]`;
}
