import { isIP } from 'node:net';

/** How one environment variable is read. `parse` throws a RangeError whose message completes "NAME must be …". */
export interface Setting<T> {
  parse(text: string): T;
  fallback: T;
}

type Widened<T extends string | null> = T extends string ? string : string | null;

/** @param expected completes "NAME must be …" for a value that does not match the pattern */
export function text<T extends string | null>(fallback: T, pattern = /^/, expected = 'text'): Setting<Widened<T>> {
  return {
    fallback: fallback as Widened<T>,
    parse: (value) => {
      if (!pattern.test(value)) throw new RangeError(expected);
      return value;
    },
  };
}

export function integer(fallback: number, min: number, max: number): Setting<number>;
export function integer(fallback: null, min: number, max: number): Setting<number | null>;
export function integer(fallback: number | null, min: number, max: number): Setting<number | null> {
  return {
    fallback,
    parse: (value) => {
      const number = /^\d{1,10}$/.test(value) ? Number(value) : NaN;
      if (!(number >= min && number <= max)) throw new RangeError(`a whole number from ${min} to ${max}`);
      return number;
    },
  };
}

export function flag(fallback: boolean): Setting<boolean>;
export function flag(fallback: null): Setting<boolean | null>;
export function flag(fallback: boolean | null): Setting<boolean | null> {
  return {
    fallback,
    parse: (value) => {
      if (value === 'true' || value === '1') return true;
      if (value === 'false' || value === '0') return false;
      throw new RangeError('true or false');
    },
  };
}

export function oneOf<const T extends string>(fallback: T, values: readonly T[]): Setting<T> {
  return {
    fallback,
    parse: (value) => {
      const found = values.find((candidate) => candidate === value);
      if (found === undefined) throw new RangeError(`one of ${values.join(', ')}`);
      return found;
    },
  };
}

/** An address with one of the given schemes, null when unset. */
export function url(schemes: string[]): Setting<string | null> {
  const starts = schemes.map((scheme) => `${scheme}://`);
  return {
    fallback: null,
    parse: (value) => {
      if (!starts.some((start) => value.toLowerCase().startsWith(start))) {
        throw new RangeError(`a URL that starts with ${starts.join(' or ')}`);
      }
      if (!isWholeUrl(value)) {
        throw new RangeError('a valid URL, with special characters in the password percent-encoded (# as %23)');
      }
      return value.replace(/\/+$/, '');
    },
  };
}

function isWholeUrl(value: string): boolean {
  try {
    const { username, password, pathname } = new URL(value);
    [username, password, pathname].forEach(decodeURIComponent);
    return true;
  } catch {
    return false;
  }
}

/** An http(s) address to which paths are added. */
export function baseUrl(): Setting<string | null> {
  const address = url(['http', 'https']);
  return {
    fallback: null,
    parse: (value) => {
      const base = address.parse(value)!;
      const { username, search, hash } = new URL(base);
      if (username || search || hash || /[?#]/.test(base)) {
        throw new RangeError('a base URL: without a user, a query or a fragment');
      }
      return base;
    },
  };
}

/** The sender of mails: an address, with or without a name. */
export function sender(fallback: string): Setting<string> {
  return text(
    fallback,
    /^(?:[^<>@]*<[^\s<>@,]+@[^\s<>@,]+>|[^\s<>@,]+@[^\s<>@,]+)$/,
    "an email address, with or without a name: 'Tutoring <no-reply@example.org>'",
  );
}

/** A PostgreSQL URL. The driver takes `prefer`, `require` and `verify-ca` for `verify-full`, and warns; this makes it explicit. */
export function databaseUrl(): Setting<string | null> {
  const address = url(['postgres', 'postgresql']);
  return {
    fallback: null,
    parse: (value) =>
      address
        .parse(value)!
        .replace(/(?<=[?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, (mode) =>
          /[?&]uselibpqcompat=true(&|$)/.test(value) ? mode : 'verify-full',
        ),
  };
}

/** PostgreSQL URLs, separated by commas. */
export function databaseUrls(): Setting<string[]> {
  const address = databaseUrl();
  return { fallback: [], parse: (value) => value.split(',').map((one) => address.parse(one.trim())!) };
}

/** What an operator admits beside the public internet: networks, and `<organization> <host>:<port>`. */
export interface PrivateNetworks {
  networks: { address: string; prefix: number }[];
  places: string[];
}

export function privateNetworks(): Setting<PrivateNetworks> {
  const expected =
    'networks such as 10.20.0.0/16, or an organization with a host and port, such as "wattle-lane 10.0.0.5:8080"';
  return {
    fallback: { networks: [], places: [] },
    parse: (value) => {
      const items = value.split(',').map((item) => item.trim());
      const networks = items.filter((item) => !item.includes(' '));
      const places = items.filter((item) => item.includes(' '));
      if (places.some((place) => !/^[a-z0-9]+(-[a-z0-9]+)* \S+:\d{1,5}$/.test(place))) throw new RangeError(expected);
      return {
        places: places.map((place) => place.toLowerCase().replace(/[[\]]/g, '')),
        networks: networks.map((network) => {
          const [, address = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(network) ?? [];
          const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!;
          if (bits === '' || Number(bits) > most) throw new RangeError(expected);
          return { address, prefix: Number(bits) };
        }),
      };
    },
  };
}

export function list(fallback: string[], size?: number): Setting<string[]> {
  return {
    fallback,
    parse: (value) => {
      const items = value.split(',').map((item) => item.trim());
      const sized = size === undefined || items.length === size;
      if (sized && !items.includes('') && new Set(items).size === items.length) return items;
      throw new RangeError(`${size ?? 'a list of'} different names separated by commas`);
    },
  };
}
