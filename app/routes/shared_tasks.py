"""The routes of shared tasks: for their owners, and for teams with what these submit."""

from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from app import answers, models, overall
from app.http.auth import Caller, Entrant, Principal
from app.http.negotiation import Wait, Wished, require_match, shows_pages, wants_page
from app.http.problems import ForbiddenError
from app.http.state import Boards, Limits, TaskStore, in_turn, routing
from app.http.waiting import Watch
from app.pages import site
from app.requests.bodies import Form, text_of
from app.requests.forms import reader
from app.requests.limits import room
from app.requests.testsets import Put
from app.routes.questions import add_shelf
from app.routes.testsets import Board, board_of, written
from sigtest.errors import InputError, RecipeError
from sigtest.requests.shared_tasks import Phase, SharedTaskChange, SharedTaskRequest, TeamRequest
from workers.errors import NotReadyError, PhaseError
from workers.shared_tasks import SharedTasks, Submitted
from workers.store.boards import Standing
from workers.store.shared_tasks import SharedTaskRecord, Team


def _besides(form: Form) -> dict[str, Any]:
    """Boards that are ticked, each an id and a name; times in the zone that the form says once."""
    own: dict[str, Any] = {}
    for time in {"opens", "deadline"} & form.keys():
        words = text_of(form, time)
        own[time] = f"{words}{text_of(form, 'zone')}" if words else None
    if published := text_of(form, "published"):
        own["published"] = published == "1"
    ticked = [part.partition(" ") for part in form.getlist("testsets") if isinstance(part, str)]
    if ticked:
        own["testsets"] = {name: testset for testset, _, name in ticked}
        if len(own["testsets"]) < len(ticked):
            raise InputError("Two boards have one name; rename one of them.", field="testsets")
    return own


NewTask = Annotated[SharedTaskRequest, reader(SharedTaskRequest, _besides)]
TaskChange = Annotated[SharedTaskChange, reader(SharedTaskChange, _besides)]
NewTeam = Annotated[TeamRequest, reader(TeamRequest)]

router = routing(prefix=models.TASKS, tags=["tasks"])
people = routing(prefix="/tasks", include_in_schema=False)

Id = Annotated[str, Path(alias="id", description="Id of a task.")]
TestSetName = Annotated[str, Path(alias="testset", description="What the task calls a test set.")]
SystemName = Annotated[str, Path(alias="name", description="What the team calls its system.")]
TeamName = Annotated[str, Path(alias="name", description="Name of the team.")]
Primary = Annotated[
    bool | None,
    Query(description="Whether it is the primary system; by default where the team has no other."),
]


def _task(
    request: Request,
    tasks: SharedTasks,
    record: SharedTaskRecord,
    team: Team | None = None,
    status: int = 200,
) -> Response:
    """A task as it stands, or its page."""
    if shows_pages(request) and request.method == "POST":
        return RedirectResponse(f"/tasks/{record.id}", 303)
    body = models.SharedTaskResource.of(record, tasks.testsets(record), team)
    return answers.in_json(body.model_dump_json(), status, {"ETag": f'"{record.etag}"'})


@people.post("")
@router.post("", status_code=201)
def create_task(request: Request, caller: Caller, tasks: TaskStore, asked: NewTask) -> Response:
    """Make a task of test sets; the same name and test sets are the same task (200)."""
    record, created = tasks.make(asked, caller.name)
    answer = _task(request, tasks, record, status=201 if created else 200)
    answer.headers.setdefault("Location", f"{models.TASKS}/{record.id}")
    return answer


@people.post("/{id}/describe")
@router.patch("/{id}")
def change_task(
    request: Request, task_id: Id, caller: Caller, tasks: TaskStore, change: TaskChange
) -> Response:
    """Change rules, publish, or write title, tags or metadata; what is left out stays."""
    check = partial(require_match, request)
    return _task(request, tasks, tasks.revise(task_id, caller.name, change, check))


# teams


@people.post("/{id}/teams")
@router.post("/{id}/teams", status_code=201)
def add_team(
    request: Request, task_id: Id, caller: Caller, tasks: TaskStore, asked: NewTeam
) -> Response:
    """Let a team in. Its token is told in this answer and nowhere else."""
    team, token = tasks.add_team(task_id, caller.name, asked)
    if shows_pages(request):
        answer = site.page(request, "team.html", team=team, token=token)
    else:
        answer = answers.in_json(models.TeamBody(**vars(team), token=token).model_dump_json(), 201)
    answer.headers["Cache-Control"] = "no-store"
    return answer


@router.get("/{id}/teams")
def list_teams(task_id: Id, caller: Caller, tasks: TaskStore) -> models.TeamListing:
    """The teams that have a token, oldest first."""
    teams = tasks.teams(task_id, caller.name)
    return models.TeamListing(teams=[models.TeamBody(**vars(team)) for team in teams])


@people.post("/{id}/teams/{name}/revoke")
@router.delete("/{id}/teams/{name}", status_code=204)
def delete_team(
    request: Request, task_id: Id, name: TeamName, caller: Caller, tasks: TaskStore
) -> Response:
    """Take the token of a team back; what it submitted stays, and it may get another one."""
    tasks.revoke(task_id, caller.name, name)
    onward = f"/tasks/{task_id}#teams"
    return RedirectResponse(onward, 303) if shows_pages(request) else Response(status_code=204)


# what teams submit


def _team(task_id: Id, entrant: Entrant, tasks: TaskStore) -> Team:
    """Dependency: the team that asks.

    Raises:
        ForbiddenError: It is the owner.
    """
    tasks.find(task_id, entrant.name)
    if entrant.team is None:
        raise ForbiddenError(
            "This is for a team, with its token; systems of your own go to the test set."
        )
    return entrant.team


Submitter = Annotated[Team, Depends(_team)]


@router.get("/{id}/systems")
def list_submissions(task_id: Id, entrant: Entrant, tasks: TaskStore) -> models.SubmissionListing:
    """Systems as they stand, and all receipts: a team's own, or to the owner those of all teams."""
    team = entrant.team
    record = tasks.find(task_id, entrant.name)
    name = team.name if team else None
    return models.SubmissionListing(
        systems=[models.SubmissionBody.of(own) for own in tasks.systems(record, name)],
        receipts=overall.listed(task_id, tasks.receipts(record, name)),
    )


@people.post("/{id}/systems")
@router.put("/{id}/systems/{testset}/{name}", status_code=202)
async def submit_system(
    request: Request,
    team: Submitter,
    tasks: TaskStore,
    settings: Limits,
    watch: Watch,
    submission: Put,
    wait: Wait,
    primary: Primary = None,
) -> Response:
    """Submit a system of the team, or replace it; the answer is its receipt.

    The same content again changes nothing (200). `Prefer: wait=N` waits up to N seconds until it is
    measured, and so for what health checks say of it.
    """
    system, page = submission.content, shows_pages(request)
    testset = submission.besides["testset"] if page else request.path_params["testset"]
    if page and submission.besides["contrastive"]:
        primary = False

    fits = partial(room, settings=settings)
    submitted, verdict = await run_in_threadpool(tasks.put, team, testset, system, primary, fits)
    if page:
        return RedirectResponse(f"/tasks/{team.task}", 303)
    if wait and submitted.system.standing is Standing.PENDING:
        again = partial(tasks.system, team, testset, system.name)
        submitted = await watch.until(
            submitted.board, again, lambda now: now.system.standing is not Standing.PENDING, wait
        )
    pending = submitted.system.standing is Standing.PENDING and verdict != "known"
    status = 202 if pending else 201 if verdict == "created" else 200
    return _submission(submitted, status, wait)


def _submission(submitted: Submitted, status: int = 200, wait: int | None = None) -> Response:
    body = models.SubmissionBody.of(submitted).model_dump_json()
    waits = submitted.system.standing is Standing.PENDING
    return answers.in_json(body, status, answers.waited(waits, wait))


@router.get("/{id}/systems/{testset}/{name}")
def get_submission(
    team: Submitter, testset: TestSetName, name: SystemName, tasks: TaskStore
) -> Response:
    """A system of the team with its receipt, and what the phase allows to be seen."""
    return _submission(tasks.system(team, testset, name))


@people.post("/{id}/systems/{testset}/{name}/withdraw")
@router.delete("/{id}/systems/{testset}/{name}", status_code=204)
def delete_submission(
    request: Request, team: Submitter, testset: TestSetName, name: SystemName, tasks: TaskStore
) -> Response:
    """Take a system of the team back; its receipts stay."""
    tasks.withdraw(team, testset, name)
    onward = f"/tasks/{team.task}"
    return RedirectResponse(onward, 303) if shows_pages(request) else Response(status_code=204)


# what is published


def _published(task_id: Id, entrant: Entrant, tasks: TaskStore) -> SharedTaskRecord:
    """Dependency: a task, for its owner or, once it is published, for its teams."""
    record = tasks.find(task_id, entrant.name)
    if entrant.team is not None and record.phase is not Phase.PUBLISHED:
        raise PhaseError("The boards of this task are not published yet.")
    return record


ShownTask = Annotated[SharedTaskRecord, Depends(_published)]


@people.get("/{id}/testsets/{testset}/leaderboard")
@router.get("/{id}/testsets/{testset}/leaderboard")
async def task_leaderboard(
    request: Request,
    task: ShownTask,
    testset: TestSetName,
    tasks: TaskStore,
    boards: Boards,
    watch: Watch,
    measure: answers.MeasureNamed,
    decided: answers.Decided,
    wish: Wished,
    wait: Wait,
) -> Response:
    """The leaderboard of a test set, as its owner sees it; to teams once it is published."""
    own = await run_in_threadpool(tasks.testset, task, testset)
    owner = Principal(task.caller)
    board = await board_of(request, own.id, owner, boards, watch, measure, decided, wait)
    return answers.unless_held(request, await in_turn(written, board, wish, wait))


async def _whole(
    request: Request,
    tasks: SharedTasks,
    record: SharedTaskRecord,
    boards: Boards,
    watch: Watch,
    wait: int | None,
) -> tuple[dict[str, Board], list[models.StandingBody]]:
    """The boards of a task that are there, of the first metric, and the order over all of them."""
    there, order = await run_in_threadpool(tasks.testsets, record), record.settings.overall
    owner = Principal(record.caller)
    usual = (answers.MeasureOptions(), answers.DecisionOptions())
    shown = {
        name: await board_of(request, own.id, owner, boards, watch, *usual, wait)
        for name, own in there.items()
    }
    if order == "none":
        return shown, []
    reports = {name: board.report for name, board in shown.items()}
    receipts = await run_in_threadpool(tasks.receipts, record)
    return shown, await in_turn(overall.standings, reports, receipts, order)


@router.get("/{id}/overall")
async def task_overall(
    request: Request, task: ShownTask, tasks: TaskStore, boards: Boards, watch: Watch, wait: Wait
) -> models.OverallBody:
    """The order of teams over all test sets, as its owner sees it; to teams once it is published.

    Raises:
        RecipeError: The task has none.
    """
    order = task.settings.overall
    if order == "none":
        raise RecipeError("This task has no order over all test sets.", field="overall")
    _, teams = await _whole(request, tasks, task, boards, watch, wait)
    return models.OverallBody(order=order, teams=teams)


@people.get("/{id}/archive")
@router.get("/{id}/archive", response_class=Response)
async def task_archive(
    request: Request,
    task_id: Id,
    caller: Caller,
    tasks: TaskStore,
    boards: Boards,
    watch: Watch,
    wait: Wait,
) -> Response:
    """Everything for the paper, as a zip: tables, pictures, methods, reports, receipts, hashes.

    Raises:
        NotReadyError: Systems are still to be measured.
    """
    record = await run_in_threadpool(tasks.find, task_id, caller.name)
    shown, order = await _whole(request, tasks, record, boards, watch, wait)
    lacking = [name for board in shown.values() for name in board.current.lacking]
    if lacking:
        raise NotReadyError(f"Not measured yet: {', '.join(lacking)}; ask again.")
    receipts = await run_in_threadpool(tasks.receipts, record)
    reports = {
        name: (board.stored, answers.read(board.stored, board.current.record))
        for name, board in shown.items()
        if board.current.record is not None
    }
    content = await in_turn(overall.archive, record, reports, receipts, order)
    headers = {"Content-Disposition": f'attachment; filename="{task_id}.zip"'}
    return Response(content, 200, headers, "application/zip")


@people.get("/{id}")
@router.get("/{id}")
async def get_task(
    request: Request, task_id: Id, entrant: Entrant, tasks: TaskStore, boards: Boards, watch: Watch
) -> Response:
    """A task: its phase, its rules and its test sets; to its owner or one of its teams."""
    record = await run_in_threadpool(tasks.find, task_id, entrant.name)
    team = entrant.team
    if not wants_page(request):
        told = await run_in_threadpool(_task, request, tasks, record, team)
        return answers.unless_held(request, told)
    order: list[models.StandingBody] = []
    if record.settings.overall != "none" and (team is None or record.phase is Phase.PUBLISHED):
        _, order = await _whole(request, tasks, record, boards, watch, 0)

    def made() -> Response:
        return site.page(
            request,
            "task.html",
            task=record,
            team=team,
            order=order,
            testsets=tasks.testsets(record),
            systems=tasks.systems(record, team.name if team else None),
            teams=tasks.teams(task_id, entrant.name) if team is None else (),
        )

    return await in_turn(made)


def _free_boards(request: Request, owner: str) -> dict[str, Any]:
    """Boards that belong to no task yet."""
    tasks, most = request.state.tasks, request.state.settings.max_page
    boards, _ = request.state.testsets.listing(owner, None, most)
    return {"boards": [own for own in boards if not (own.task and tasks.stored(own.task))]}


add_shelf(
    router,
    people,
    "task",
    lambda tasks, record: models.SharedTaskResource.of(record, tasks.testsets(record), None),
    _free_boards,
    "Delete a task and the tokens of its teams; its test sets stay as they are.",
)
router.routes.extend(people.routes)
