/**
 * Signs thinking in the mock. The real service's signature is opaque and ties the text to itself. This one does the
 * same in readable form: it contains the seal of the script and a checksum of the text and the seal, so that changed
 * blocks are rejected. Unpaired surrogates, which the real service never sends, are replaced before the text is
 * signed.
 */
export function sign(text: string, seal: string): string {
  // Lone surrogates are escaped by JSON, so that any seal can be encoded.
  const carried = btoa(encodeURIComponent(JSON.stringify(seal)));
  return `${carried}.${checksum(`${seal}\u0000${text.toWellFormed()}`)}`;
}

/** Returns the seal inside a signature; undefined if the mock did not create it. */
export function sealOf(signature: string): string | undefined {
  try {
    const seal: unknown = JSON.parse(decodeURIComponent(atob(signature.split('.')[0] ?? '')));
    return typeof seal === 'string' ? seal : undefined;
  } catch {
    return undefined;
  }
}

/** Returns true if the mock signed exactly this text. */
export function isSigned(text: string, signature: string): boolean {
  const seal = sealOf(signature);
  return seal !== undefined && sign(text, seal) === signature;
}

/** Returns the FNV-1a hash of the UTF-16 code units. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash.toString(16).padStart(8, '0');
}
