import { plainText } from './plain-text.ts';

const mask = '[redacted]';

/** Shorter values are not treated as secrets, because messages would become unreadable. */
const minLength = 6;

/** Common forms of keys. */
const keyLike = /\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs]|AKIA|AIza)[-_A-Za-z0-9]{12,}/g;
const named = /((?:bearer|token|password|passwd|secret|api[-_]?key)["']?\s*[:=]?\s*["']?)([^\s"',;]{8,})/gi;

/** Makes what masks these secrets, and whatever looks like one, in what a server has said. */
export function scrubber(secrets: readonly string[]): (text: string) => string {
  const needles = secrets
    .filter((secret) => secret.length >= minLength)
    .sort((left, right) => right.length - left.length);
  return (text) => {
    let clean = plainText(text);
    for (const needle of needles) clean = clean.replaceAll(needle, mask);
    return clean.replace(keyLike, mask).replace(named, `$1${mask}`);
  };
}
