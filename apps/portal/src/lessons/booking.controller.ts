import { Controller, Get, Post, Query } from '@nestjs/common';
import { billOf } from '@app/billing';
import { Env } from '@app/config';
import { Bookings, dayOf, type ParticipantPrice, Previews, Series } from '@app/scheduling';
import { answered, type Errors } from '../web/answered.js';
import { moneyWords } from '../money/money-words.js';
import { ForManagers, type Managed, Managing } from '../web/access.decorators.js';
import { FormOperations } from '../web/operations.js';
import { type Page, page, type SeeOther } from '../web/pages.js';
import { addressOf, type Asked, askedBy, type Booking, readBooking, whoOf } from './booking-form.js';
import { BookingService } from './booking.service.js';
import { Choices } from './choices.js';
import { FreeTimes } from './free-times.js';
import { SecondLook, versionOf } from './in-the-way.js';
import { isDay, fieldAt, readMinutes } from './lesson-forms.js';

/** Books a lesson, or a series: whom it is for, who teaches it, when; then a look at what would be booked, and one yes. */
@Controller('o/:slug/lessons/new')
@ForManagers()
export class BookingController {
  constructor(
    private readonly service: BookingService,
    private readonly choices: Choices,
    private readonly operations: FormOperations,
    private readonly second: SecondLook,
    private readonly freeTimes: FreeTimes,
    private readonly previews: Previews,
    private readonly bookings: Bookings,
    private readonly series: Series,
    private readonly env: Env,
  ) {}

  @Get()
  async step(@Managing() organization: Managed, @Query() query: Record<string, unknown>): Promise<Page> {
    const asked = askedBy((name) => query[name]);
    const search = typeof query.name === 'string' ? query.name : '';
    if (whoOf(asked) === null) return this.choose(organization, asked, 'student', search);
    if (asked.tutor === '') return this.choose(organization, asked, 'tutor', search);
    return query.check === 'yes' ? this.look(organization, asked) : this.form(organization, asked);
  }

  private async choose(organization: Managed, asked: Asked, role: 'student' | 'tutor', search: string): Promise<Page> {
    const { people, more } = await this.choices.people(organization, role, search);
    const classes = role === 'student' && search === '' ? await this.service.classes(organization) : [];
    const to = (changed: Partial<Asked>) => addressOf(asked, changed);
    return page('lessons/choose', { role, people, more, classes, search, asked, to });
  }

  private async form(organization: Managed, asked: Asked, errors: Errors | null = null): Promise<Page> {
    const { timeZone } = organization;
    const shown = await this.service.people(organization, asked);
    const today = dayOf(new Date(), timeZone);
    const from = isDay(asked.from) && asked.from > today ? asked.from : today;
    const minutes = readMinutes(asked.minutes || '60', this.env) ?? 60;
    const [free] = await this.freeTimes.of(organization, [shown.tutor!.id], { from, minutes });
    const to = (changed: Partial<Asked>) => addressOf(asked, changed);
    const data = {
      ...shown,
      asked: { ...asked, from, minutes: asked.minutes || '60' },
      free,
      to,
      errors: errors ?? {},
    };
    return page('lessons/book', data, errors ? 422 : 200);
  }

  private async look(organization: Managed, asked: Asked): Promise<Page> {
    const read = readBooking(asked, organization.timeZone, this.env);
    if ('errors' in read) return this.form(organization, asked, read.errors);
    const { who, tutor, subjects, currency } = await this.service.people(organization, asked);
    const { wanted, first, times } = read.value;
    const { participants, obstacles } = await this.previews.look(organization.organizationId, wanted, times);
    const names = await this.service.names(organization, participants.map(({ studentId }) => studentId)); // prettier-ignore
    return page('lessons/check', {
      ...{ who, tutor, times, ...moneyWords(currency) },
      ...(await this.second.told(organization, obstacles, wanted.tutorId)),
      subject: subjects.find(({ id }) => id === wanted.subject)?.name ?? null,
      version: versionOf(obstacles),
      prices: participants.map((one) => ({ name: names.get(one.studentId) ?? null, cents: priceOf(one, first) })),
      fields: { ...asked, at: first.startsAt.toISOString(), day: '', start: '' },
      back: addressOf(asked),
    });
  }

  @Post()
  async book(@Managing() organization: Managed): Promise<Page | SeeOther> {
    const { form, timeZone, slug } = organization;
    const asked = askedBy((name) => form.text(name));
    const read = readBooking(asked, timeZone, this.env);
    if ('errors' in read) return this.form(organization, asked, read.errors);
    const lessons = `/o/${slug}/lessons`;
    const day = dayOf(read.value.first.startsAt, timeZone);
    const many = read.value.times.length;
    const to = {
      back: `${lessons}?from=${day}`,
      done: many > 1 ? `${many} lessons were booked.` : 'The lesson was booked.',
    };
    const address = `${lessons}/new`;
    try {
      return await answered(
        this.perform(organization, read.value),
        to,
        (errors) => this.form(organization, asked, errors),
        fieldAt,
      );
    } catch (error) {
      return this.second.ask(organization, error, { title: 'Book anyway?', yes: 'Book anyway', action: address, back: address + addressOf(asked) }); // prettier-ignore
    }
  }

  private perform(organization: Managed, booking: Booking): Promise<unknown> {
    const { organizationId } = organization;
    const { wanted, first, repeated, times } = booking;
    const allowed = async () => {
      const participants = await this.bookings.quote(organizationId, wanted);
      const studentIds = participants.map(({ studentId }) => studentId);
      return {
        ...wanted,
        ...(await this.second.require(organization, { tutorId: wanted.tutorId, studentIds, times })),
      };
    };
    if (repeated === null)
      return this.operations.perform(organization, 'POST /v1/sessions', {}, async () => {
        const id = await this.bookings.book(organizationId, await allowed(), first);
        return { id, audit: { session_id: id } };
      });
    return this.operations.perform(organization, 'POST /v1/session-series', {}, async () => {
      const { seriesId, ids } = await this.series.book(organizationId, await allowed(), first, repeated, false);
      return { id: seriesId, audit: { series_id: seriesId, session_ids: ids } };
    });
  }
}

/** What one who takes part pays, in cents; null if no price is set. */
function priceOf(
  { rateCents, surchargeCents }: ParticipantPrice,
  { startsAt, endsAt }: { startsAt: Date; endsAt: Date },
) {
  if (rateCents === null) return null;
  const surcharge = surchargeCents === null ? null : BigInt(surchargeCents);
  const minutes = BigInt(Math.round((endsAt.getTime() - startsAt.getTime()) / 60_000));
  return Number(billOf({ rateCents: BigInt(rateCents), surchargeCents: surcharge }, minutes));
}
