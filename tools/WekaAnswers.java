import java.io.FileReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import weka.classifiers.Classifier;
import weka.classifiers.functions.SMO;
import weka.classifiers.trees.J48;
import weka.classifiers.trees.j48.C45Split;
import weka.classifiers.trees.j48.ClassifierTree;
import weka.classifiers.trees.j48.Distribution;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.Utils;
import weka.filters.Filter;

/**
 * Writes what WEKA's J48 and SMO answer on one problem as JSON.
 *
 * <p>Run by make_goldens.py: {@code java -cp weka.jar WekaAnswers.java train.arff test.arff
 * answers.json}. The class is the last attribute.
 */
public class WekaAnswers {
  /** Lets us reach the tree, which WEKA keeps from other packages. */
  static class OpenJ48 extends J48 {
    ClassifierTree root() {
      return m_root;
    }
  }

  /** Lets us reach the filters and the machines. */
  static class OpenSMO extends SMO {
    Instances filtered(Instances rows) throws Exception {
      Instances result = rows;
      for (Filter filter : new Filter[] {m_Missing, m_NominalToBinary, m_Filter}) {
        if (filter != null) { // those that the attributes do not need are not made
          result = Filter.useFilter(result, filter);
        }
      }
      return result;
    }

    double output(int i, int j, Instance filtered) throws Exception {
      return m_classifiers[i][j].SVMOutput(-1, filtered);
    }
  }

  public static void main(String[] arguments) throws Exception {
    Instances train = read(arguments[0]);
    Instances test = read(arguments[1]);
    List<String> answers = new ArrayList<>();
    answers.add(field("j48", tree(train, test, "-C 0.25 -M 2", true)));
    answers.add(field("j48_unpruned", tree(train, test, "-U -M 2", true)));
    answers.add(field("j48_noraise", tree(train, test, "-C 0.25 -M 2 -S", false)));
    answers.add(field("j48_laplace", tree(train, test, "-C 0.25 -M 2 -A", false)));
    answers.add(field("smo", machines(train, test)));
    Files.writeString(Path.of(arguments[2]), object(answers));
  }

  static Instances read(String path) throws Exception {
    try (FileReader reader = new FileReader(path)) {
      Instances rows = new Instances(reader);
      rows.setClassIndex(rows.numAttributes() - 1);
      return rows;
    }
  }

  static String tree(Instances train, Instances test, String options, boolean withText)
      throws Exception {
    OpenJ48 j48 = new OpenJ48();
    j48.setOptions(Utils.splitOptions(options));
    j48.buildClassifier(train);
    List<String> fields = new ArrayList<>();
    fields.add(field("options", quoted(options)));
    fields.add(field("leaves", String.valueOf((int) j48.measureNumLeaves())));
    if (withText) {
      fields.add(field("text", quoted(j48.toString())));
    }
    fields.add(field("tree", node(j48.root())));
    fields.add(field("test_dist", distributions(j48, test)));
    return object(fields);
  }

  static String node(ClassifierTree tree) {
    Distribution distribution = tree.getLocalModel().distribution();
    ClassifierTree[] sons = tree.getSons();
    List<String> fields = new ArrayList<>();
    fields.add(field("leaf", String.valueOf(sons == null)));
    fields.add(field("dist", array(distribution.numClasses(), distribution::perClass)));
    if (sons != null) {
      C45Split split = (C45Split) tree.getLocalModel();
      // A nominal split leaves WEKA's "no threshold yet", the largest double.
      boolean numeric = split.splitPoint() < Double.MAX_VALUE;
      fields.add(field("att", String.valueOf(split.attIndex())));
      fields.add(field("split", numeric ? String.valueOf(split.splitPoint()) : "null"));
      fields.add(field("sons", array(sons.length, i -> node(sons[i]))));
    }
    return object(fields);
  }

  static String machines(Instances train, Instances test) throws Exception {
    OpenSMO smo = new OpenSMO();
    smo.buildClassifier(train);
    Instances filtered = smo.filtered(test);
    List<String> pairs = new ArrayList<>();
    for (int i = 0; i < train.numClasses(); i++) {
      for (int j = i + 1; j < train.numClasses(); j++) {
        pairs.add(machine(smo, i, j, filtered));
      }
    }
    List<String> fields = new ArrayList<>();
    fields.add(field("options", quoted(Utils.joinOptions(smo.getOptions()))));
    fields.add(field("dim_after_filters", String.valueOf(filtered.numAttributes())));
    fields.add(field("pairs", array(pairs.size(), pairs::get)));
    fields.add(field("test_dist", distributions(smo, test)));
    return object(fields);
  }

  static String machine(OpenSMO smo, int i, int j, Instances filtered) throws Exception {
    double[] weights = smo.sparseWeights()[i][j];
    int[] indices = smo.sparseIndices()[i][j];
    List<String> outputs = new ArrayList<>();
    for (Instance row : filtered) {
      outputs.add(String.valueOf(smo.output(i, j, row)));
    }
    List<String> fields = new ArrayList<>();
    fields.add(field("i", String.valueOf(i)));
    fields.add(field("j", String.valueOf(j)));
    fields.add(field("b", String.valueOf(smo.bias()[i][j])));
    fields.add(field("widx", array(indices.length, f -> indices[f])));
    fields.add(field("w", array(weights.length, f -> weights[f])));
    fields.add(field("test_out", array(outputs.size(), outputs::get)));
    return object(fields);
  }

  static String distributions(Classifier classifier, Instances test) throws Exception {
    List<String> rows = new ArrayList<>();
    for (Instance row : test) {
      double[] distribution = classifier.distributionForInstance(row);
      rows.add(array(distribution.length, c -> distribution[c]));
    }
    return array(rows.size(), rows::get);
  }

  static String array(int length, IntFunction<Object> item) {
    return IntStream.range(0, length)
        .mapToObj(i -> String.valueOf(item.apply(i)))
        .collect(Collectors.joining(",", "[", "]"));
  }

  static String field(String name, String json) {
    return quoted(name) + ":" + json;
  }

  static String object(List<String> fields) {
    return "{" + String.join(",", fields) + "}";
  }

  static String quoted(String text) {
    String escaped =
        text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\t", "\\t");
    return "\"" + escaped + "\"";
  }
}
