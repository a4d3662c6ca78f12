/** A self-signed certificate and its private key. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

type Bytes = readonly number[];

/** Encodes a DER value: tag, length, content. */
function der(tag: number, ...contents: readonly Bytes[]): Bytes {
  const content = contents.flat();
  const { length } = content;
  // Lengths from 128 start with their number of bytes, which must be minimal.
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return [tag, ...(length < 128 ? [length] : long), ...content];
}

function text(value: string): Bytes {
  return [...new TextEncoder().encode(value)];
}

const tag = { integer: 2, bits: 3, oid: 6, utf8: 12, sequence: 48, set: 49, time: 24, version: 160 } as const;

/** Encodes a name with one part, the common name (2.5.4.3). */
function commonName(name: string): Bytes {
  const part = der(tag.sequence, der(tag.oid, [0x55, 0x04, 0x03]), der(tag.utf8, text(name)));
  return der(tag.sequence, der(tag.set, part));
}

/** Makes a new self-signed certificate for this name (RFC 5280, 4.1). Needs Node. */
export async function selfSigned(name: string): Promise<Certificate> {
  const { generateKeyPairSync, sign } = await import('node:crypto');
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  // ecdsa-with-SHA256, 1.2.840.10045.4.3.2
  const algorithm = der(tag.sequence, der(tag.oid, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));
  const content = der(
    tag.sequence,
    der(tag.version, der(tag.integer, [2])),
    der(tag.integer, [1]),
    algorithm,
    commonName(name),
    der(tag.sequence, der(tag.time, text('20200101000000Z')), der(tag.time, text('21200101000000Z'))),
    commonName(name),
    [...publicKey.export({ type: 'spki', format: 'der' })],
  );
  const signature = der(tag.bits, [0], [...sign('sha256', Uint8Array.from(content), privateKey)]);
  const base64 = btoa(String.fromCharCode(...der(tag.sequence, content, algorithm, signature)));
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
