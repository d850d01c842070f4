import { Controller, Get, Param, Post } from '@nestjs/common';
import { Env } from '@app/config';
import { Database, VALUES } from '@app/database';
import { FIELDS } from '@app/fields';
import { type MayChange, MemberProfiles, TutorProfiles } from '@app/people';
import { Refused } from '@app/rules';
import { answered, type Errors, namesake } from '../web/answered.js';
import { ConfirmIdentity, ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { PageError } from '../web/page-error.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { pathId } from '../web/path-id.js';
import { readFields } from '../web/read-field.js';
import { provisionerOf } from './people.service.js';
import {
  type OptionRow,
  placesOf,
  profileOf,
  type ProfileRow,
  type SubjectRow,
  subjectsFor,
} from './profile.queries.js';

const { users, tutor_profiles: profiles } = FIELDS;
const NAMES = { first_name: users.first_name, last_name: users.last_name };
const CONTACT = { email: users.email, phone: users.phone };
/** Of a login that others keep, too. */
const NOTHING: { first_name?: string; last_name?: string; email?: string | null; phone?: string | null } = {};
/** What only those who teach are asked. */
const TAUGHT = {
  ...{ meeting_url: profiles.meeting_url, max_travel_km: profiles.max_travel_km },
  ...{ home_suburb: profiles.home_suburb, home_postcode: profiles.home_postcode },
};

/** Where managers correct what is known of somebody, and say what prices and recommendations go by. */
@Controller('o/:slug/people/:user_id/edit')
@ForManagers()
@ConfirmIdentity()
export class ProfileController {
  constructor(
    private readonly db: Database,
    private readonly operations: FormOperations,
    private readonly members: MemberProfiles,
    private readonly tutors: TutorProfiles,
    private readonly env: Env,
  ) {}

  @Get()
  show(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page> {
    return this.shown(organization, pathId(id));
  }

  @Post()
  async save(@Managing() organization: Managed, @Param('user_id') id: string): Promise<Page | SeeOther> {
    const userId = pathId(id);
    const { profile } = await this.read(organization, userId);
    return answered(
      this.change(organization, userId, profile),
      { back: `/o/${organization.slug}/people/${userId}`, done: 'It was saved.' },
      (errors) => this.shown(organization, userId, errors),
      namesake,
    );
  }

  /** @throws Refused */
  private async change(organization: Managed, userId: string, { role, shared }: ProfileRow): Promise<object | null> {
    const { form } = organization;
    const [by, may] = [provisionerOf(organization), mayChange(organization)];
    const { first_name, last_name, ...contact } = shared ? NOTHING : readFields(form, this.env, NAMES, CONTACT);
    // Their address is what owners and admins sign in with.
    const more = role === 'owner' || role === 'admin' ? {} : contact;
    const person = { firstName: first_name, lastName: last_name, ...more };
    const nothingElse = () => Promise.resolve();
    if (role === 'parent') {
      return this.operations.perform(organization, 'PATCH /v1/parents/:parent_id', { parent_id: userId }, async () => {
        await this.members.changeParent(by, userId, person, may, nothingElse);
        return {};
      });
    }
    if (role === 'student') {
      const level = form.id('rate_band_id');
      return this.operations.perform(
        organization,
        'PATCH /v1/students/:student_id',
        { student_id: userId },
        async () => {
          await this.members.changeStudent(by, userId, person, may, level, nothingElse);
          return {};
        },
      );
    }
    const profile = {
      ...{ first_name, last_name, ...more, ...readFields(form, this.env, {}, TAUGHT) },
      ...{ tutor_tier_id: form.id('tutor_tier_id'), tutor_subjects: form.ids('subjects') },
      teaching_mode: VALUES.tutor_profiles.teaching_mode.find((mode) => mode === form.text('teaching_mode')) ?? null,
    };
    return this.operations.perform(organization, 'PUT /v1/tutors/:tutor_id', { tutor_id: userId }, async () => {
      await this.tutors.change(by, userId, profile, may);
      return {};
    });
  }

  private async shown(organization: Managed, userId: string, errors: Errors | null = null): Promise<Page> {
    const { form } = organization;
    const { profile, ...offered } = await this.read(organization, userId);
    const typed = () => Object.fromEntries(Object.keys(profile).map((name) => [name, form.text(name)]));
    const taught = offered.subjects.filter((one) => one.taught).map(({ id }) => id);
    const values = errors ? { ...typed(), subjects: form.list('subjects') } : { ...profile, subjects: taught };
    return page('people/edit', { userId, profile, ...offered, values, errors: errors ?? {} }, errors ? 422 : 200);
  }

  /** @throws PageError 404 for somebody unknown */
  private async read({ organizationId }: Managed, userId: string) {
    const [[profile], levels, tiers, subjects] = await this.db.read<[ProfileRow, OptionRow, OptionRow, SubjectRow]>(
      { organizationId },
      profileOf(organizationId, userId),
      placesOf(organizationId, 'rate_bands'),
      placesOf(organizationId, 'tutor_tiers'),
      subjectsFor(organizationId, userId),
    );
    if (!profile) throw PageError.notFound();
    return { profile, levels, tiers, subjects };
  }
}

/** Owners alone rename owners and admins; a manager may correct every address that an organization may. */
const mayChange = ({ role }: Managed): MayChange => ({
  managers: () => {
    if (role !== 'owner')
      throw Refused.invalid('Only an owner can change the name of an owner or admin.', 'first_name');
  },
  addresses: () => undefined,
});
