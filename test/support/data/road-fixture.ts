import supertest from 'supertest';
import { TestApi } from '../http/api.js';
import { json, RoutingServer, tablesFor } from '../http/routing-server.js';
import { fixture } from '../process/fixture.js';

/** Made up: a tenth of a degree is 11.1 km and six minutes. */
export const PLACES = { A1: [-37, 145], A2: [-37.1, 145], A3: [-37.3, 145], A4: [-37.62, 145], FAR: [-20, 145] } as const;
export const pointOf = (postcode: keyof typeof PLACES): string => PLACES[postcode].join(',');

/** The answer of a refresh. */
export interface Refreshed {
  enabled: boolean;
  considered: number;
  computed: number;
  cached: number;
  failed: number;
}

export const refreshed = (computed: number, cached: number, failed: number): Refreshed => ({
  enabled: true,
  considered: computed + cached + failed,
  computed,
  cached,
  failed,
});

/** The real application with a routing service, and organizations around {@link PLACES}. */
export class RoadFixture {
  private constructor(
    readonly routing: RoutingServer,
    readonly api: TestApi,
  ) {}

  /** One for all tests of a file, with a routing service that works at the beginning of each. */
  static async open(): Promise<RoadFixture> {
    const at = await fixture(RoadFixture.start());
    beforeEach(at.reset);
    return at;
  }

  private static async start(): Promise<RoadFixture> {
    const routing = await RoutingServer.start();
    const api = await TestApi.start({ ROUTING_URL: `${routing.url}/`, ROUTING_TIMEOUT_SECONDS: '1' });
    for (const [postcode, at] of Object.entries(PLACES)) {
      await api.make.query('INSERT INTO places (postcode, lat, lng) VALUES ($1, $2, $3)', [postcode, ...at]);
    }
    return new RoadFixture(routing, api);
  }

  /** The routing service works, and nobody has asked it anything yet. */
  readonly reset = (): void => {
    this.routing.asked.length = 0;
    this.routing.answer = ({ url }, response) => {
      json(response, tablesFor(url!));
    };
  };

  async stop(): Promise<void> {
    await this.api.stop();
    await this.routing.stop();
  }

  /** An organization with tutors who live in these postcodes. */
  readonly school = async (...homes: string[]) => {
    const { api } = this;
    const { make } = api;
    const { id } = await make.organization();
    const [key, reading] = [await api.key(id, { scopes: ['write'] }), await api.key(id)];
    const tutor = async (homePostcode: string | null, profile = {}) =>
      (await make.tutor(id, { profile: { teachingMode: 'both', homePostcode, ...profile } })).id;
    const tutors: string[] = [];
    for (const home of homes) tutors.push(await tutor(home));
    const refresh = async (query = '', as = key, headers: Record<string, string> = {}) => {
      const sent = supertest(api.server).post(`/v1/coverage/isochrones/refresh${query}`);
      return (await sent.set({ Authorization: `Token token=${as}`, ...headers })) as unknown as { status: number; body: Refreshed };
    };
    const student = (await make.student(id)).id;
    await make.row('locations', { organizationId: id, ownerType: 'student', studentId: student, postcode: 'A2', isDefault: true });
    const request = await make.row('booking_requests', { organizationId: id, studentId: student, preferredMode: 'in_person' });
    /** By tutor, their kilometers and minutes to the student in A2. */
    const roads = async () => {
      const answer = await api.get(`/v1/booking-requests/${request.id}/recommended-tutors?limit=50`, reading);
      type Road = { tutor_id: string; road_km: number | null; road_minutes: number | null; score: number; reasons: string[] };
      return Object.fromEntries((answer.body as { data: Road[] }).data.map((one) => [one.tutor_id, one]));
    };
    const kept = () => make.query<{ postcode: string; reached: object }>(`SELECT postcode, reached FROM isochrones WHERE organization_id = $1`, [id]);
    return { id, key, reading, tutor, tutors, refresh, roads, kept };
  };
}
