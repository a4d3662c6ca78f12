import { allowsUrl, parseAllowedHost } from '@cobbler/agent/sandbox';

/** The tool that fetches web pages. Its rules name hosts, or URLs. */
export const webTool = 'web_fetch';

/**
 * Returns whether a URL is on the host that a pattern names: `HOST`, `HOST:PORT` or `*.HOST`. Undefined if the pattern
 * names no host.
 */
export function hostMatcher(
  pattern: string,
  effect: 'allow' | 'deny',
): ((subject: string) => boolean) | undefined {
  if (parseAllowedHost(pattern) === undefined) return undefined;
  const everyPort = effect === 'deny' && !/:\d+$/.test(pattern);
  return (subject) => {
    const port = everyPort ? URL.parse(subject)?.port : '';
    return allowsUrl(port ? `${pattern}:${port}` : pattern, subject);
  };
}

/** Returns the rule for the host of a URL; undefined for an address such as 93.184.216.34. */
export function hostRule(subject: string): string | undefined {
  const host = URL.parse(subject)?.host ?? '';
  return parseAllowedHost(host) === undefined ? undefined : `${webTool}(${host})`;
}

/** Returns whether a pattern with `*` leaves the host open. */
export function isOpenHost(pattern: string): boolean {
  const isFixed = parseAllowedHost(pattern) !== undefined || /^https?:\/\/[^*/]+\//.test(pattern);
  return pattern.includes('*') && !isFixed;
}
