import { loadEnv } from '@app/config';
import { Addresses } from '@app/webhooks';

const addresses = (settings: Record<string, string> = {}) => new Addresses(loadEnv({ NODE_ENV: 'production', ...settings }, {}));

const admits = (guard: Addresses, address: string, url = 'https://receiver.example.org/', slug: string | null = 'wattle-lane') =>
  guard.admits(address, new URL(url), slug);

const AGENTS = [
  '169.254.169.254', '169.254.1.1', '168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254',
  '::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '64:ff9b::a83f:8110',
]; // prettier-ignore

describe('where hooks of organizations may point', () => {
  it('is the public internet in production, by https on two ports', () => {
    const guard = addresses();
    const urls = [
      'https://a.example/',
      'https://a.example:443/',
      'https://a.example:8443/x',
      'http://a.example/',
      'http://a.example:443/',
      'https://a.example:22/',
    ];
    expect(urls.map((url) => admits(guard, '1.1.1.1', url))).toEqual([true, true, true, false, false, false]);
    expect(['10.0.0.1', '127.0.0.1', '::1', 'fd00::1', '::ffff:10.0.0.1', 'nonsense', ''].map((address) => admits(guard, address))).toEqual(
      Array(7).fill(false),
    );
  });

  it('is anywhere but the agents of clouds elsewhere', () => {
    const guard = addresses({ NODE_ENV: 'development' });
    expect(admits(guard, '127.0.0.1', 'http://localhost:4000/')).toBe(true);
    expect(AGENTS.map((address) => admits(guard, address, 'http://a.example:80/'))).toEqual(AGENTS.map(() => false));
  });

  it('is also what the operator admits: networks, or a place for one organization', () => {
    const guard = addresses({ WEBHOOK_PRIVATE_NETWORKS: '10.20.0.0/16, fd00:1::/32, wattle-lane crm.internal:8080, other 10.9.0.1:80' });
    expect(admits(guard, '10.20.3.4', 'http://anything:5000/')).toBe(true);
    expect(admits(guard, '::ffff:10.20.3.4', 'http://anything:5000/')).toBe(true);
    expect([admits(guard, '10.21.0.1'), admits(guard, 'fd00:1::5'), admits(guard, 'fd00:2::5')]).toEqual([false, true, false]);
    const place = 'http://crm.internal:8080/hook';
    expect(admits(guard, '192.168.4.4', place)).toBe(true);
    expect([admits(guard, '192.168.4.4', place, 'other'), admits(guard, '192.168.4.4', place, null)]).toEqual([false, false]);
    expect(admits(guard, '192.168.4.4', 'http://crm.internal:8081/')).toBe(false);
    expect(admits(guard, '10.9.0.1', 'http://10.9.0.1/', 'other')).toBe(true);
    expect(admits(guard, '10.9.0.1', 'http://10.9.0.1/')).toBe(false);
  });

  it('is never an agent of a cloud, whatever is admitted', () => {
    const guard = addresses({ WEBHOOK_PRIVATE_NETWORKS: '0.0.0.0/0, ::/0, wattle-lane metadata.internal:80' });
    expect(AGENTS.map((address) => admits(guard, address, 'http://metadata.internal/'))).toEqual(AGENTS.map(() => false));
    expect(admits(guard, '10.0.0.1', 'http://metadata.internal/')).toBe(true);
  });

  it('is said when a URL is entered, as far as it can be told then', () => {
    const guard = addresses();
    const fault = (url: string, by = guard) => {
      try {
        return by.check(url, 'wattle-lane');
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        return error.message;
      }
    };
    expect(fault('https://Receiver.example.org:443/hook')).toBe('https://receiver.example.org/hook');
    for (const url of ['http://receiver.example.org/', 'https://receiver.example.org:5432/']) expect(fault(url)).toContain('port 443 or 8443');
    for (const url of [
      'https://127.0.0.1/',
      'https://0x7f.1/',
      'https://2130706433/',
      'https://[::1]/',
      'https://[::ffff:10.0.0.1]/',
      'https://169.254.169.254/',
    ]) {
      expect([url, fault(url)]).toEqual([url, 'The address must be on the public internet.']);
    }
    expect(fault('https://user:secret@receiver.example.org/')).toContain('must not contain a user name');
    for (const url of ['ftp://receiver.example.org/', 'receiver.example.org', '', 'javascript:alert(1)'])
      expect(fault(url)).toBe('Enter an http(s) URL.');
    expect(fault(`https://receiver.example.org/${'x'.repeat(2_000)}`)).toContain('2000');
    expect(fault('http://10.20.0.1:9/', addresses({ WEBHOOK_PRIVATE_NETWORKS: '10.20.0.0/16' }))).toBe('http://10.20.0.1:9/');
  });

  it.each(['10.0.0.0', '10.0.0.0/33', 'fd00::/129', 'somewhere/8', 'wattle-lane crm.internal', 'Wattle crm.internal:80', '10.0.0.0/8,,'])(
    'cannot be admitted as "%s"',
    (value) => {
      expect(() => addresses({ WEBHOOK_PRIVATE_NETWORKS: value })).toThrow('WEBHOOK_PRIVATE_NETWORKS must be networks such as 10.20.0.0/16');
    },
  );
});
