import { DAY } from './clock.js';
import type { Row, Rows, TableRows } from './rows.js';
import { iso, type School } from './school.js';
import { session, sessionCount } from './sessions.js';

const HOUR = 3_600_000;
const FORMS = ['Free consultation', 'Contact', null];
const WAITING = ['new', 'contacted', 'consultation_booked'] as const;
const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const MODES = ['in_person', 'online', 'either', null];
const NOTES = ['Prefers to be called after six.', 'Was recommended by a friend of the family.', null];
const MESSAGES = ['She has her first assessment in three weeks.', 'He is shy at first.', null];

/** For every student one enquiry that came to something, and for every two another one that did not, or not yet. */
function* leads(school: School): Rows {
  for (let index = 0; index < school.students; index++) {
    yield lead(school, index * 2, { ...converted(school, index), name: asker(school, index) });
    if (index % 2 === 0) yield lead(school, index * 2 + 1, { ...open(school, index), name: stranger(school, index) });
  }
}

function lead(school: School, index: number, more: Row & { name: string }): Row {
  const random = school.random('lead', index);
  const form = random.pick(FORMS);
  const plain = more.name.normalize('NFD').replace(/[^a-zA-Z ]/g, '');
  const address = plain.toLowerCase().replaceAll(' ', '.');
  return {
    id: school.id('lead', index),
    form_id: form && school.id('form', FORMS.indexOf(form)),
    source_form_name: form,
    source_url: form && `https://${school.profile.slug}.example.com/contact`,
    email: index % 5 === 4 ? null : `${address}.${index}@example.org`,
    phone: index % 5 === 4 || index % 3 === 0 ? `+61 ${school.profile.areaCode} 5550 ${random.int(1000, 9999)}` : null,
    subject: `Year ${random.int(9, 12)} ${school.subject(index >> 1).name}`,
    notes: random.pick(NOTES),
    staff_notes: index % 4 === 0 ? 'Called back; wants a trial lesson.' : null,
    assigned_tutor_id: index % 3 === 1 ? null : school.teacherOf(index >> 1).id,
    ...more,
  };
}

/** Somebody asked a week before the student joined. */
function converted(school: School, index: number): Row {
  const { createdAt } = school.student(index);
  return {
    status: 'converted',
    converted_at: iso(createdAt),
    created_at: iso(createdAt - 7 * DAY),
    updated_at: iso(createdAt),
  };
}

/** Every second one of the year was lost; the others are from the last four weeks. */
function open(school: School, index: number): Row {
  const lost = index % 4 === 0;
  const createdAt = school.spread('open-lead', index, school.students, lost ? 350 : 28, lost ? 20 : 1);
  return {
    status: lost ? 'lost' : WAITING[(index >> 2) % WAITING.length]!,
    created_at: iso(createdAt),
    updated_at: iso(createdAt + HOUR),
  };
}

/** The parent who asked, or the student themselves. */
function asker(school: School, index: number): string {
  const { firstName, lastName } = school.parentsOf(index)[0] ?? school.student(index);
  return `${firstName} ${lastName}`;
}

const stranger = (school: School, index: number): string => {
  const [given, family] = [
    school.student((index + 7) % school.students),
    school.student((index + 13) % school.students),
  ];
  return `${given.firstName} ${family.lastName}`;
};

/** Requests that led to lessons, others that came to nothing, and those of the last two weeks. */
function* bookingRequests(school: School): Rows {
  for (let index = 0; index < school.students; index++) {
    const lesson = session(school, Math.floor((index * sessionCount(school)) / school.students));
    if (index % 3 === 0 && lesson.student !== null) {
      const at = lesson.createdAt - DAY;
      yield request(school, index, lesson.student, {
        status: 'matched',
        matched_session_id: lesson.id,
        duration_minutes: lesson.minutes,
        created_at: iso(at),
        updated_at: iso(lesson.createdAt),
      });
    } else if (index % 3 === 1) {
      const status = (['pending', 'declined', 'pending', 'expired'] as const)[(index >> 1) % 4]!;
      const waits = status === 'pending';
      const at = school.spread('request', index, school.students, waits ? 14 : 120, waits ? 0.1 : 20);
      yield request(school, index, index % 9 === 1 ? null : school.someStudent(index), {
        status,
        created_at: iso(at),
        updated_at: iso(at),
      });
    }
  }
}

function request(school: School, index: number, student: number | null, more: Row): Row {
  const random = school.random('request', index);
  const days = DAYS.filter(() => random.int(0, 2) === 0);
  return {
    id: school.id('booking-request', index),
    subject_id: school.subject(student ?? index).id,
    student_id: student === null ? null : school.studentId(student),
    student_display_name: student === null ? stranger(school, index) : null,
    preferred_mode: random.pick(MODES),
    preferred_days: days,
    preferred_times: Object.fromEntries(days.slice(0, 1).map((day) => [day, ['16:00-19:00']])),
    duration_minutes: 60,
    message: random.pick(MESSAGES),
    ...more,
  };
}

/** Two rooms of the organization, and where tutors and most students live. */
function* locations(school: School): Rows {
  const { places, timeZone } = school.profile;
  const state = timeZone.endsWith('Brisbane') ? 'QLD' : 'VIC';
  const location = (kind: string, index: number, owner: Row, createdAt: number): Row => {
    const { suburb, postcode } = places[index % places.length]!;
    return { id: school.id(`${kind}-location`, index), suburb, state, postcode, created_at: iso(createdAt), ...owner };
  };
  const founded = school.now - 385 * DAY;
  yield location('org', 0, { owner_type: 'org', label: 'Study centre', is_default: true }, founded);
  yield location('org', 1, { owner_type: 'org', label: 'Room at the library' }, founded);
  for (const [index, { id: tutor_id, createdAt }] of school.teachers.entries()) {
    yield location('tutor', index, { owner_type: 'tutor', tutor_id, label: 'Home', is_default: true }, createdAt + DAY);
  }
  for (let index = 0; index < school.students; index++) {
    if (index % 5 === 4) continue;
    const { id: student_id, createdAt } = school.student(index);
    yield location(
      'student',
      index,
      { owner_type: 'student', student_id, label: 'Home', is_default: true },
      createdAt + DAY,
    );
  }
}

export const enquiryRows: TableRows = { leads, booking_requests: bookingRequests, locations };
