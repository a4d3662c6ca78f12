/**
 * Stands in for the encryption of reasoning: what the mock hands out can be checked when it comes back, so that
 * one changed character is noticed, as it is by the service.
 */
export function encrypt(seal: string): string {
  return `gAAAAA${digest(seal)}.${seal}`;
}

/** What was encrypted, or nothing when the text was tampered with. */
export function decrypt(encrypted: string): string | undefined {
  const found = /^gAAAAA([0-9a-f]{8})\.([\s\S]*)$/.exec(encrypted);
  if (found === null) return undefined;
  const seal = found[2] ?? '';
  return digest(seal) === found[1] ? seal : undefined;
}

/** FNV-1a, 32 bits: enough to notice a change, not to hide anything. */
export function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, '0');
}
